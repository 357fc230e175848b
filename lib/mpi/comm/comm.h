/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators: struct vm_comm (mpi/call/state.h) on top of a channel of core.
 * Begin here; then read make.c, split.h, inter.h, group.h.
 *
 * Each rank has its own object.  Handles: mpi/call/handle.h.
 */
#ifndef MPI_COMM_COMM_H
#define MPI_COMM_COMM_H

#include "mpi/call/handle.h"

struct vm_call;

/* Largest tag of neighbourhood collectives in the context of collectives
 * (context + 1); make.c and inter.c use as many tags above, mpi/part/part.h
 * those from 0x40000000. */
#define VM_COLL_TAG_MAX 0x1fffffff

/*
 * Creates a communicator on chan, which it takes over (frees on error), with
 * the error handler of parent: 0 or an MPI error.
 */
int vm_comm_new(struct vm_mpi *mpi, struct vm_comm **out, struct vm_chan *chan,
		const struct vm_comm *parent);

/* Copies attributes and topology to a duplicate; `handle` is that of `from`.
 * Returns 0, an MPI error, or a callback's result.  May switch. */
int vm_comm_copy(struct vm_call *call, struct vm_comm *to,
		 const struct vm_comm *from, MPI_Comm handle);

/* Frees a communicator that has not been returned to the program yet. */
void vm_comm_discard(struct vm_mpi *mpi, struct vm_comm *comm);

/* Frees what comm holds, except comm itself, a predefined communicator's
 * channel, and the attributes (vm_attrs_delete()). */
void vm_comm_clear(struct vm_mpi *mpi, struct vm_comm *comm);

/* Returns the communicator with the context of a message or request, or
 * NULL. */
struct vm_comm *vm_comm_of_context(struct vm_mpi *mpi, uint32_t context);

#endif
