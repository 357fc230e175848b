/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI functions that move data among all ranks of a communicator, and the
 * barrier.
 */
#include "mpi/coll_args.h"

int PMPI_Barrier(MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Barrier);
	struct vm_coll coll;
	int rc = vm_coll_open(&call, &coll, &vm_coll_barrier, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root,
	       MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Bcast);
	struct vm_coll coll;
	int rc = vm_coll_open(&call, &coll, &vm_coll_bcast, comm);

	if (rc == 0)
		rc = vm_coll_root(&call, &coll, root);
	if (rc == 0)
		rc = vm_coll_side(&call, &coll.recv, buffer, count, datatype);
	return vm_coll_close(&call, &coll, comm, rc);
}

/* Opens a rooted collective; *is_root says which arguments count. */
static int open_rooted(struct vm_call *call, struct vm_coll *coll,
		       const struct vm_coll_kind *kind, MPI_Comm comm, int root,
		       bool *is_root)
{
	int rc = vm_coll_open(call, coll, kind, comm);

	if (rc == 0)
		rc = vm_coll_root(call, coll, root);
	*is_root = rc == 0 && coll->comm->rank == root;
	return rc;
}

int PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
		MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Gather);
	struct vm_coll coll;
	bool is_root;
	int rc = open_rooted(&call, &coll, &vm_coll_gather, comm, root,
			     &is_root);

	if (rc == 0 && is_root)
		rc = vm_coll_side(&call, &coll.recv, recvbuf, recvcount,
				  recvtype);
	if (rc == 0 && !(is_root && vm_coll_in_place(&coll, sendbuf)))
		rc = vm_coll_side(&call, &coll.send, sendbuf, sendcount,
				  sendtype);
	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		 void *recvbuf, const int recvcounts[], const int displs[],
		 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Gatherv);
	struct vm_coll coll;
	bool is_root;
	int rc = open_rooted(&call, &coll, &vm_coll_gather, comm, root,
			     &is_root);

	if (rc == 0 && is_root)
		rc = vm_coll_side_v(&call, &coll, &coll.recv, recvbuf,
				    recvcounts, displs, recvtype);
	if (rc == 0 && !(is_root && vm_coll_in_place(&coll, sendbuf)))
		rc = vm_coll_side(&call, &coll.send, sendbuf, sendcount,
				  sendtype);
	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		 void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
		 MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Scatter);
	struct vm_coll coll;
	bool is_root;
	int rc = open_rooted(&call, &coll, &vm_coll_scatter, comm, root,
			     &is_root);

	if (rc == 0 && is_root)
		rc = vm_coll_side(&call, &coll.send, sendbuf, sendcount,
				  sendtype);
	if (rc == 0 && !(is_root && vm_coll_in_place(&coll, recvbuf)))
		rc = vm_coll_side(&call, &coll.recv, recvbuf, recvcount,
				  recvtype);
	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Scatterv(const void *sendbuf, const int sendcounts[],
		  const int displs[], MPI_Datatype sendtype, void *recvbuf,
		  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Scatterv);
	struct vm_coll coll;
	bool is_root;
	int rc = open_rooted(&call, &coll, &vm_coll_scatter, comm, root,
			     &is_root);

	if (rc == 0 && is_root)
		rc = vm_coll_side_v(&call, &coll, &coll.send, sendbuf,
				    sendcounts, displs, sendtype);
	if (rc == 0 && !(is_root && vm_coll_in_place(&coll, recvbuf)))
		rc = vm_coll_side(&call, &coll.recv, recvbuf, recvcount,
				  recvtype);
	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		   void *recvbuf, int recvcount, MPI_Datatype recvtype,
		   MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Allgather);
	struct vm_coll coll;
	int rc = vm_coll_open(&call, &coll, &vm_coll_allgather, comm);

	if (rc == 0)
		rc = vm_coll_side(&call, &coll.recv, recvbuf, recvcount,
				  recvtype);
	if (rc == 0 && !vm_coll_in_place(&coll, sendbuf))
		rc = vm_coll_side(&call, &coll.send, sendbuf, sendcount,
				  sendtype);
	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		    void *recvbuf, const int recvcounts[], const int displs[],
		    MPI_Datatype recvtype, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Allgatherv);
	struct vm_coll coll;
	int rc = vm_coll_open(&call, &coll, &vm_coll_allgather, comm);

	if (rc == 0)
		rc = vm_coll_side_v(&call, &coll, &coll.recv, recvbuf,
				    recvcounts, displs, recvtype);
	if (rc == 0 && !vm_coll_in_place(&coll, sendbuf))
		rc = vm_coll_side(&call, &coll.send, sendbuf, sendcount,
				  sendtype);
	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
		  void *recvbuf, int recvcount, MPI_Datatype recvtype,
		  MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Alltoall);
	struct vm_coll coll;
	int rc = vm_coll_open(&call, &coll, &vm_coll_alltoall, comm);

	if (rc == 0)
		rc = vm_coll_side(&call, &coll.recv, recvbuf, recvcount,
				  recvtype);
	if (rc == 0 && !vm_coll_in_place(&coll, sendbuf))
		rc = vm_coll_side(&call, &coll.send, sendbuf, sendcount,
				  sendtype);
	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[],
		   const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
		   const int recvcounts[], const int rdispls[],
		   MPI_Datatype recvtype, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Alltoallv);
	struct vm_coll coll;
	int rc = vm_coll_open(&call, &coll, &vm_coll_alltoall, comm);

	if (rc == 0)
		rc = vm_coll_side_v(&call, &coll, &coll.recv, recvbuf,
				    recvcounts, rdispls, recvtype);
	if (rc == 0 && !vm_coll_in_place(&coll, sendbuf))
		rc = vm_coll_side_v(&call, &coll, &coll.send, sendbuf,
				    sendcounts, sdispls, sendtype);
	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[],
		   const int sdispls[], const MPI_Datatype sendtypes[],
		   void *recvbuf, const int recvcounts[], const int rdispls[],
		   const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Alltoallw);
	struct vm_coll coll;
	int rc = vm_coll_open(&call, &coll, &vm_coll_alltoall, comm);

	if (rc == 0)
		rc = vm_coll_side_w(&call, &coll, &coll.recv, recvbuf,
				    recvcounts, rdispls, recvtypes);
	if (rc == 0 && !vm_coll_in_place(&coll, sendbuf))
		rc = vm_coll_side_w(&call, &coll, &coll.send, sendbuf,
				    sendcounts, sdispls, sendtypes);
	return vm_coll_close(&call, &coll, comm, rc);
}

WEAK_ALIAS(Barrier)
WEAK_ALIAS(Bcast)
WEAK_ALIAS(Gather)
WEAK_ALIAS(Gatherv)
WEAK_ALIAS(Scatter)
WEAK_ALIAS(Scatterv)
WEAK_ALIAS(Allgather)
WEAK_ALIAS(Allgatherv)
WEAK_ALIAS(Alltoall)
WEAK_ALIAS(Alltoallv)
WEAK_ALIAS(Alltoallw)
