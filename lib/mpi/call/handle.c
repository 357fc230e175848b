/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles of communicators, and their names in messages.
 */
#include "mpi/call/handle.h"

#include "mpi/call/errh.h"

MPI_Comm vm_comm_handle(struct vm_mpi *mpi, struct vm_comm *comm)
{
	if (comm == &mpi->world)
		return MPI_COMM_WORLD;
	if (comm == &mpi->self)
		return MPI_COMM_SELF;
	return (MPI_Comm)comm;
}

const char *vm_comm_text(const struct vm_mpi *mpi, const struct vm_comm *comm)
{
	if (comm->name)
		return comm->name;
	if (comm == &mpi->world)
		return "MPI_COMM_WORLD";
	if (comm == &mpi->self)
		return "MPI_COMM_SELF";
	return "a communicator without a name";
}

void vm_comm_init(struct vm_comm *comm, struct vm_chan *chan)
{
	comm->context = chan->context;
	comm->rank = chan->rank;
	comm->size = comm->local_size = chan->group->size;
	comm->ranks = chan->group->ranks;
	comm->chan = chan;
	chan->user = comm;
}
