/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators: struct vm_comm (mpi/call/state.h) over a channel of core.  Begin
 * here; then make.c, split.h, inter.h, group.h.
 *
 * Each rank has its own object.  Its handle: mpi/call/handle.h.
 */
#ifndef MPI_COMM_COMM_H
#define MPI_COMM_COMM_H

#include "mpi/call/handle.h"

struct vm_call;

/* Tags in the context of collectives (context + 1): those up to this one are
 * coll.c's, the others comm/make.c's. */
#define VM_COLL_TAG_MAX 0x3fffffff

/*
 * A communicator over chan, which it takes over (freed on error too), with the
 * error handler of parent.  0 or an MPI error.
 */
int vm_comm_new(struct vm_mpi *mpi, struct vm_comm **out, struct vm_chan *chan,
		const struct vm_comm *parent);

/* Attributes and topology of a duplicate; `handle` is that of `from`.  0, an MPI
 * error, or what a callback returned.  May switch. */
int vm_comm_copy(struct vm_call *call, struct vm_comm *to,
		 const struct vm_comm *from, MPI_Comm handle);

/* Ends a communicator that was not handed out yet. */
void vm_comm_discard(struct vm_mpi *mpi, struct vm_comm *comm);

/* Frees what comm holds, but not comm, its channel if it is a predefined one,
 * or its attributes (vm_attrs_delete()). */
void vm_comm_clear(struct vm_mpi *mpi, struct vm_comm *comm);

/* The communicator whose context a message or request carries, or NULL. */
struct vm_comm *vm_comm_of_context(struct vm_mpi *mpi, uint32_t context);

#endif
