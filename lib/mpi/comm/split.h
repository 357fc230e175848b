/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creation of channels for the members of a communicator.
 *
 * Communicators are made in the meetings of collectives, so that mismatched
 * calls are reported with the calls of the ranks involved.
 */
#ifndef MPI_COMM_SPLIT_H
#define MPI_COMM_SPLIT_H

#include "core/rank/chan.h"
#include "mpi/coll/algo/run.h"

/*
 * Like vm_chan_split() on parent's channel, both sides of an intercommunicator
 * included.  0 or an MPI error.  May switch.
 */
int vm_comm_chan_split(struct vm_call *call, struct vm_comm *parent,
		       struct vm_chan **out, int color, int key);

/* Makes one channel of both sides of an intercommunicator, ordered by high.
 * MPI_ERR_ARG if the members of a side disagree. */
int vm_comm_chan_merge(struct vm_call *call, struct vm_comm *inter,
		       struct vm_chan **out, bool high);

/*
 * Initialises the description of a call that makes communicators, on all
 * members of comm's channel.  Each member contributes `bytes` bytes, of which
 * other processes have a copy; vm_comm_coll_brought() returns them.  The kind's
 * flow is VM_FLOW_ALL; .whole is set if it makes channels.
 */
void vm_comm_coll_init(struct vm_coll *coll, const struct vm_coll_kind *kind,
		       const struct vm_call *call, struct vm_comm *comm,
		       const void *brings, size_t bytes);

static inline const void *vm_comm_coll_brought(const struct vm_coll *coll)
{
	return coll->send.buf;
}

/* .work of such a kind: never worth sharing. */
size_t vm_comm_coll_work(const struct vm_coll *any, size_t members);

#endif
