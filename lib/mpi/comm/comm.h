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

/* The tags above: for a user's tag, and for a hash (from_group.c). */
#define VM_COMM_TAG_MASK 0x0fffffff
static inline int32_t vm_comm_tag(int tag)
{
	return 0x20000000 | (tag & VM_COMM_TAG_MASK);
}
static inline int32_t vm_comm_hash_tag(uint64_t hash)
{
	return 0x30000000 | (int32_t)(hash & VM_COMM_TAG_MASK);
}

/*
 * Creates a communicator on chan, which it takes over (frees on error), with
 * the error handler of parent: 0 or an MPI error.
 */
int vm_comm_new(struct vm_mpi *mpi, struct vm_comm **out, struct vm_chan *chan,
		const struct vm_comm *parent);

/*
 * Makes a communicator of the group's members without a meeting: the first one
 * chooses the context and sends it to the others with env and `check`, which
 * must be the same at all.  Error handler and session are those of parent.  0,
 * an MPI error, or a negative code of core.  May switch.
 */
struct vm_mpi_group;
int vm_comm_join(struct vm_call *call, const struct vm_mpi_group *group,
		 struct vm_env env, uint64_t check,
		 const struct vm_comm *parent, struct vm_comm **out);

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
