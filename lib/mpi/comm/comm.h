/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators: struct vm_comm (mpi/state.h) over a channel of core.
 *
 * Each rank has its own object; predefined handles are the ABI's constants and
 * stand for the two that lie in the rank's state.
 */
#ifndef MPI_COMM_COMM_H
#define MPI_COMM_COMM_H

#include "mpi/state.h"

struct vm_call;

/* Tags in the context of collectives (context + 1): those up to this one are
 * coll.c's, the others comm_make.c's. */
#define VM_COLL_TAG_MAX 0x3fffffff

/* The communicator behind a handle of the rank whose state is mpi, or NULL. */
static inline struct vm_comm *vm_comm_in(struct vm_mpi *mpi, MPI_Comm handle)
{
	if (VM_LIKELY(handle == MPI_COMM_WORLD))
		return &mpi->world;
	if (handle == MPI_COMM_SELF)
		return &mpi->self;
	return vm_object_of(handle, VM_MAGIC_COMM);
}

/* The same for the caller's rank, between MPI_Init and MPI_Finalize. */
static inline struct vm_comm *vm_comm_get(MPI_Comm handle)
{
	struct vm_mpi *mpi = vm_mpi_self();

	return VM_LIKELY(mpi != NULL) ? vm_comm_in(mpi, handle) : NULL;
}

/* The handle that names comm. */
MPI_Comm vm_comm_handle(struct vm_mpi *mpi, struct vm_comm *comm);

/* Fills the communicator of a channel in; for state.c. */
void vm_comm_init(struct vm_comm *comm, struct vm_chan *chan,
		  struct vm_errh *errh);

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

/* For messages: "MPI_COMM_WORLD", the name that was set, or "communicator".
 * Writes into text when it must. */
const char *vm_comm_text(const struct vm_mpi *mpi, const struct vm_comm *comm);

#endif
