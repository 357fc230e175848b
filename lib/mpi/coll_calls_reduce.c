/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI functions that reduce over all ranks of a communicator.
 */
#include "mpi/coll_args.h"

int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count,
		MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Reduce);
	struct vm_coll coll;
	int rc = vm_coll_open(&call, &coll, &vm_coll_reduce, comm);

	if (rc == 0)
		rc = vm_coll_root(&call, &coll, root);
	if (rc == 0)
		rc = vm_coll_operands(&call, &coll, sendbuf, recvbuf, count,
				      datatype, op, coll.comm->rank == root);
	return vm_coll_close(&call, &coll, comm, rc);
}

/* The shape of all where every member gets a result from count elements, but
 * for rank 0 of an exscan, whose receive buffer means nothing. */
static int reduce_to_all(struct vm_call *call, const struct vm_coll_kind *kind,
			 const void *sendbuf, void *recvbuf, int count,
			 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct vm_coll coll;
	int rc = vm_coll_open(call, &coll, kind, comm);

	if (rc == 0)
		rc = vm_coll_operands(
			call, &coll, sendbuf, recvbuf, count, datatype, op,
			kind != &vm_coll_exscan || coll.comm->rank > 0 ||
				sendbuf == MPI_IN_PLACE);
	return vm_coll_close(call, &coll, comm, rc);
}

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
		   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Allreduce);

	return reduce_to_all(&call, &vm_coll_allreduce, sendbuf, recvbuf, count,
			     datatype, op, comm);
}

int PMPI_Scan(const void *sendbuf, void *recvbuf, int count,
	      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Scan);

	return reduce_to_all(&call, &vm_coll_scan, sendbuf, recvbuf, count,
			     datatype, op, comm);
}

int PMPI_Exscan(const void *sendbuf, void *recvbuf, int count,
		MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Exscan);

	return reduce_to_all(&call, &vm_coll_exscan, sendbuf, recvbuf, count,
			     datatype, op, comm);
}

/* The sum of the counts of all members, which are shared out by `rank`. */
static int check_shares(struct vm_call *call, const struct vm_comm *comm,
			const int recvcounts[], MPI_Count *total)
{
	int rc = vm_check_pointer(call, recvcounts, "recvcounts");

	*total = 0;
	for (int i = 0; rc == 0 && i < comm->size; i++) {
		if (recvcounts[i] < 0)
			rc = vm_error(call, MPI_ERR_COUNT,
				      "recvcounts[%d] is %d, must not be "
				      "negative",
				      i, recvcounts[i]);
		*total += recvcounts[i];
	}
	return rc;
}

int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf,
			const int recvcounts[], MPI_Datatype datatype,
			MPI_Op op, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Reduce_scatter);
	struct vm_coll coll;
	MPI_Count total = 0;
	int rc = vm_coll_open(&call, &coll, &vm_coll_reduce_scatter, comm);

	if (rc == 0)
		rc = check_shares(&call, coll.comm, recvcounts, &total);
	if (rc == 0)
		rc = vm_coll_operands(&call, &coll, sendbuf, recvbuf, total,
				      datatype, op,
				      recvcounts[coll.comm->rank] > 0 ||
					      sendbuf == MPI_IN_PLACE);
	if (rc == 0)
		coll.recv.counts = recvcounts;
	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
			      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Reduce_scatter_block);
	struct vm_coll coll;
	int rc = vm_coll_open(&call, &coll, &vm_coll_reduce_scatter, comm);

	if (rc == 0)
		rc = vm_coll_operands(&call, &coll, sendbuf, recvbuf,
				      (MPI_Count)recvcount * coll.comm->size,
				      datatype, op, true);
	return vm_coll_close(&call, &coll, comm, rc);
}

WEAK_ALIAS(Reduce)
WEAK_ALIAS(Allreduce)
WEAK_ALIAS(Scan)
WEAK_ALIAS(Exscan)
WEAK_ALIAS(Reduce_scatter)
WEAK_ALIAS(Reduce_scatter_block)
