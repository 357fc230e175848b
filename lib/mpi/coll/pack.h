/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What leaders tell each other when a collective begins: one message per pair of
 * processes, with the plan, the calls and the blocks of data that are small.
 * Large blocks are only announced; they follow from buffer to buffer.
 */
#ifndef MPI_COLL_PACK_H
#define MPI_COLL_PACK_H

#include "mpi/coll/hier.h"

/* A block that goes directly; of one that comes, `data` is where it is to be, and
 * the proxy of member `from` sends it. */
struct vm_coll_block {
	int process;
	uint32_t from, to; /* members; of one that goes, 0 */
	struct vm_data *data;
	struct vm_data out;
};

/* For process p: 0 or -VMPI_ENOMEM. */
int vm_coll_pack(struct vm_coll_view *view, int p);

/* What has come from process p becomes proxies: 0 or -VMPI_EINVAL. */
int vm_coll_unpack(struct vm_coll_view *view, int p);

/* What a member sends to member `to`. */
struct vm_data vm_coll_data_for(const struct vm_coll *coll, size_t to);

/* Gives a proxy so many blocks to send, wherever they are, in its temp; false:
 * no memory. */
bool vm_coll_proxy_blocks(struct vm_coll *proxy, size_t count);

/* Of a member of the channel: whether it is on the second side of an
 * intercommunicator, and its number among those that blocks are for. */
static inline bool vm_coll_is_second(const struct vm_coll *coll, size_t seat)
{
	return coll->first_size && seat >= (size_t)coll->first_size;
}

static inline size_t vm_coll_block_of(const struct vm_coll *coll, size_t seat)
{
	return vm_coll_is_second(coll, seat) ? seat - (size_t)coll->first_size :
					       seat;
}

/* Whether what member `from` sends may be for member `to`. */
static inline bool vm_coll_reaches(const struct vm_coll *coll, size_t from,
				   size_t to)
{
	return !coll->first_size ||
	       vm_coll_is_second(coll, from) != vm_coll_is_second(coll, to);
}

#endif
