/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages that leaders exchange when a collective begins: to each process
 * one, with the plan, the calls and the small blocks of data.  Large blocks are
 * only announced; they follow from buffer to buffer.
 */
#ifndef MPI_COLL_ALGO_PACK_H
#define MPI_COLL_ALGO_PACK_H

#include "mpi/coll/algo/hier.h"

/* A block sent from buffer to buffer.  Of an incoming one, `data` is the
 * destination, from which the proxy of member `from` sends. */
struct vm_coll_block {
	int process;
	uint32_t from, to; /* members; of one that goes, 0 */
	struct vm_data *data;
	struct vm_data out;
};

/* Packs the message to process p: 0 or -VMPI_ENOMEM. */
int vm_coll_pack(struct vm_coll_view *view, int p);

/* Makes proxies from the message of process p: 0 or -VMPI_EINVAL. */
int vm_coll_unpack(struct vm_coll_view *view, int p);

/*
 * Both without messages, of processes of this host that are known to make the
 * same call with the same plan, in which each sends blocks of `bytes`.
 */
int vm_coll_foresee(struct vm_coll_view *view, int p, size_t bytes);

/* The most bytes of a block that goes along with the calls to process p. */
size_t vm_coll_packed_most(const struct vm_coll_view *view, int p);

/* Returns the data that a member sends to member `to`. */
struct vm_data vm_coll_data_for(const struct vm_coll *coll, size_t to);

/* Allocates a list of `count` blocks, at any addresses, for a proxy to send, in
 * its temp; false: out of memory. */
bool vm_coll_proxy_blocks(struct vm_coll *proxy, size_t count);

/* Tell whether a member of the channel is on the second side of an
 * intercommunicator, and its block number. */
static inline bool vm_coll_is_second(const struct vm_coll *coll, size_t seat)
{
	return coll->first_size && seat >= (size_t)coll->first_size;
}

static inline size_t vm_coll_block_of(const struct vm_coll *coll, size_t seat)
{
	return vm_coll_is_second(coll, seat) ? seat - (size_t)coll->first_size :
					       seat;
}

/* Tells whether member `to` may receive data of member `from`. */
static inline bool vm_coll_reaches(const struct vm_coll *coll, size_t from,
				   size_t to)
{
	return !coll->first_size ||
	       vm_coll_is_second(coll, from) != vm_coll_is_second(coll, to);
}

#endif
