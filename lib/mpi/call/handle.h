/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversion of handles to communicators and requests, and back.
 *
 * The handles of predefined communicators, which are part of the rank's state,
 * are the constants of the ABI; all other handles are addresses.
 */
#ifndef MPI_CALL_HANDLE_H
#define MPI_CALL_HANDLE_H

#include "mpi/call/state.h"

struct vm_req;

/* Returns the communicator of a handle of the rank whose state is mpi, or
 * NULL. */
static inline struct vm_comm *vm_comm_in(struct vm_mpi *mpi, MPI_Comm handle)
{
	if (VM_LIKELY(handle == MPI_COMM_WORLD))
		return &mpi->world;
	if (handle == MPI_COMM_SELF)
		return &mpi->self;
	return vm_object_of(handle, VM_MAGIC_COMM);
}

/* Returns the communicator of a handle of the calling rank, between MPI_Init
 * and MPI_Finalize, or NULL. */
static inline struct vm_comm *vm_comm_get(MPI_Comm handle)
{
	struct vm_mpi *mpi = vm_mpi_self();

	return VM_LIKELY(mpi != NULL) ? vm_comm_in(mpi, handle) : NULL;
}

/* Returns the handle of comm. */
MPI_Comm vm_comm_handle(struct vm_mpi *mpi, struct vm_comm *comm);

/* Returns the name of comm for error texts: "MPI_COMM_WORLD", the name that was
 * set, or "a communicator without a name". */
const char *vm_comm_text(const struct vm_mpi *mpi, const struct vm_comm *comm);

/* Initialises a communicator on chan, except its error handler. */
void vm_comm_init(struct vm_comm *comm, struct vm_chan *chan);

/* Returns the request of a handle. */
static inline struct vm_req *vm_request(MPI_Request request)
{
	return (struct vm_req *)request;
}

#endif
