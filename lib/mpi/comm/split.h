/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * New channels for the members of a communicator.
 *
 * Communicators are made in meetings of the kind that collectives have, so that
 * ranks that call different things learn who calls what.
 */
#ifndef MPI_COMM_SPLIT_H
#define MPI_COMM_SPLIT_H

#include "core/rank/chan.h"
#include "mpi/coll/coll.h"

/*
 * As vm_chan_split() of parent's channel, of both sides if it is an
 * intercommunicator.  0 or an MPI error.  May switch.
 */
int vm_comm_chan_split(struct vm_call *call, struct vm_comm *parent,
		       struct vm_chan **out, int color, int key);

/* One channel of both sides of an intercommunicator: first those whose ranks
 * say low.  MPI_ERR_ARG when a side does not agree with itself. */
int vm_comm_chan_merge(struct vm_call *call, struct vm_comm *inter,
		       struct vm_chan **out, bool high);

/*
 * The description of a call that makes communicators, on all members of comm's
 * channel.  The members bring so many bytes each, which those of other processes
 * find, as vm_comm_coll_brought(), in memory of their own.  The kind's flow is
 * VM_FLOW_ALL; it is .whole if it makes channels.
 */
void vm_comm_coll_init(struct vm_coll *coll, const struct vm_coll_kind *kind,
		       const struct vm_call *call, struct vm_comm *comm,
		       const void *brings, size_t bytes);

static inline const void *vm_comm_coll_brought(const struct vm_coll *coll)
{
	return coll->send.buf;
}

/* The .work of such a kind: it is never worth sharing. */
size_t vm_comm_coll_work(const struct vm_coll *any, size_t members);

#endif
