/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI functions that move data from all ranks to all, for int and MPI_Count
 * (mpi/call/twin.h): for each the interpretation of its arguments, then the
 * calls.
 */
#include "mpi/call/twin.h"
#include "mpi/joint/args.h"

/* Allgather and alltoall, whose arguments are alike. */
static int open_alike(struct vm_call *call, struct vm_coll *coll,
		      const struct vm_coll_kind *kind, const void *sendbuf,
		      vm_count sendcount, MPI_Datatype sendtype, void *recvbuf,
		      vm_count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	int rc = vm_coll_open(call, coll, kind, comm);

	if (rc == 0)
		rc = vm_coll_side(call, coll, &coll->recv, recvbuf, recvcount,
				  recvtype);
	if (rc == 0 && !vm_coll_in_place(coll, sendbuf))
		rc = vm_coll_side(call, coll, &coll->send, sendbuf, sendcount,
				  sendtype);
	return rc;
}

int VM_TWIN(PMPI_Allgather)(const void *sendbuf, vm_count sendcount,
			    MPI_Datatype sendtype, void *recvbuf,
			    vm_count recvcount, MPI_Datatype recvtype,
			    MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Allgather));
	struct vm_coll coll;
	int rc = open_alike(&call, &coll, &vm_coll_allgather, sendbuf,
			    sendcount, sendtype, recvbuf, recvcount, recvtype,
			    comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Iallgather)(const void *sendbuf, vm_count sendcount,
			     MPI_Datatype sendtype, void *recvbuf,
			     vm_count recvcount, MPI_Datatype recvtype,
			     MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Iallgather));
	struct vm_coll coll;
	int rc = open_alike(&call, &coll, &vm_coll_allgather, sendbuf,
			    sendcount, sendtype, recvbuf, recvcount, recvtype,
			    comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Allgather_init)(const void *sendbuf, vm_count sendcount,
				 MPI_Datatype sendtype, void *recvbuf,
				 vm_count recvcount, MPI_Datatype recvtype,
				 MPI_Comm comm, MPI_Info info,
				 MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Allgather_init));
	struct vm_coll coll;
	int rc = open_alike(&call, &coll, &vm_coll_allgather, sendbuf,
			    sendcount, sendtype, recvbuf, recvcount, recvtype,
			    comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

static int allgatherv(struct vm_call *call, struct vm_coll *coll,
		      const void *sendbuf, vm_count sendcount,
		      MPI_Datatype sendtype, void *recvbuf,
		      const vm_count recvcounts[], const vm_count displs[],
		      MPI_Datatype recvtype, MPI_Comm comm)
{
	int rc = vm_coll_open(call, coll, &vm_coll_allgather, comm);

	if (rc == 0)
		rc = vm_coll_side_v(call, coll, &coll->recv, recvbuf,
				    VM_INTS(recvcounts), VM_INTS(displs),
				    recvtype);
	if (rc == 0 && !vm_coll_in_place(coll, sendbuf))
		rc = vm_coll_side(call, coll, &coll->send, sendbuf, sendcount,
				  sendtype);
	return rc;
}

int VM_TWIN(PMPI_Allgatherv)(const void *sendbuf, vm_count sendcount,
			     MPI_Datatype sendtype, void *recvbuf,
			     const vm_count recvcounts[],
			     const vm_count displs[], MPI_Datatype recvtype,
			     MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Allgatherv));
	struct vm_coll coll;
	int rc = allgatherv(&call, &coll, sendbuf, sendcount, sendtype, recvbuf,
			    recvcounts, displs, recvtype, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Iallgatherv)(const void *sendbuf, vm_count sendcount,
			      MPI_Datatype sendtype, void *recvbuf,
			      const vm_count recvcounts[],
			      const vm_count displs[], MPI_Datatype recvtype,
			      MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Iallgatherv));
	struct vm_coll coll;
	int rc = allgatherv(&call, &coll, sendbuf, sendcount, sendtype, recvbuf,
			    recvcounts, displs, recvtype, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Allgatherv_init)(const void *sendbuf, vm_count sendcount,
				  MPI_Datatype sendtype, void *recvbuf,
				  const vm_count recvcounts[],
				  const vm_count displs[],
				  MPI_Datatype recvtype, MPI_Comm comm,
				  MPI_Info info, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Allgatherv_init));
	struct vm_coll coll;
	int rc = allgatherv(&call, &coll, sendbuf, sendcount, sendtype, recvbuf,
			    recvcounts, displs, recvtype, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

int VM_TWIN(PMPI_Alltoall)(const void *sendbuf, vm_count sendcount,
			   MPI_Datatype sendtype, void *recvbuf,
			   vm_count recvcount, MPI_Datatype recvtype,
			   MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Alltoall));
	struct vm_coll coll;
	int rc = open_alike(&call, &coll, &vm_coll_alltoall, sendbuf, sendcount,
			    sendtype, recvbuf, recvcount, recvtype, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Ialltoall)(const void *sendbuf, vm_count sendcount,
			    MPI_Datatype sendtype, void *recvbuf,
			    vm_count recvcount, MPI_Datatype recvtype,
			    MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Ialltoall));
	struct vm_coll coll;
	int rc = open_alike(&call, &coll, &vm_coll_alltoall, sendbuf, sendcount,
			    sendtype, recvbuf, recvcount, recvtype, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Alltoall_init)(const void *sendbuf, vm_count sendcount,
				MPI_Datatype sendtype, void *recvbuf,
				vm_count recvcount, MPI_Datatype recvtype,
				MPI_Comm comm, MPI_Info info,
				MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Alltoall_init));
	struct vm_coll coll;
	int rc = open_alike(&call, &coll, &vm_coll_alltoall, sendbuf, sendcount,
			    sendtype, recvbuf, recvcount, recvtype, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

static int alltoallv(struct vm_call *call, struct vm_coll *coll,
		     const void *sendbuf, const vm_count sendcounts[],
		     const vm_count sdispls[], MPI_Datatype sendtype,
		     void *recvbuf, const vm_count recvcounts[],
		     const vm_count rdispls[], MPI_Datatype recvtype,
		     MPI_Comm comm)
{
	int rc = vm_coll_open(call, coll, &vm_coll_alltoall, comm);

	coll->uneven = true;
	if (rc == 0)
		rc = vm_coll_side_v(call, coll, &coll->recv, recvbuf,
				    VM_INTS(recvcounts), VM_INTS(rdispls),
				    recvtype);
	if (rc == 0 && !vm_coll_in_place(coll, sendbuf))
		rc = vm_coll_side_v(call, coll, &coll->send, sendbuf,
				    VM_INTS(sendcounts), VM_INTS(sdispls),
				    sendtype);
	return rc;
}

int VM_TWIN(PMPI_Alltoallv)(const void *sendbuf, const vm_count sendcounts[],
			    const vm_count sdispls[], MPI_Datatype sendtype,
			    void *recvbuf, const vm_count recvcounts[],
			    const vm_count rdispls[], MPI_Datatype recvtype,
			    MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Alltoallv));
	struct vm_coll coll;
	int rc = alltoallv(&call, &coll, sendbuf, sendcounts, sdispls, sendtype,
			   recvbuf, recvcounts, rdispls, recvtype, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Ialltoallv)(const void *sendbuf, const vm_count sendcounts[],
			     const vm_count sdispls[], MPI_Datatype sendtype,
			     void *recvbuf, const vm_count recvcounts[],
			     const vm_count rdispls[], MPI_Datatype recvtype,
			     MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Ialltoallv));
	struct vm_coll coll;
	int rc = alltoallv(&call, &coll, sendbuf, sendcounts, sdispls, sendtype,
			   recvbuf, recvcounts, rdispls, recvtype, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Alltoallv_init)(const void *sendbuf,
				 const vm_count sendcounts[],
				 const vm_count sdispls[],
				 MPI_Datatype sendtype, void *recvbuf,
				 const vm_count recvcounts[],
				 const vm_count rdispls[],
				 MPI_Datatype recvtype, MPI_Comm comm,
				 MPI_Info info, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Alltoallv_init));
	struct vm_coll coll;
	int rc = alltoallv(&call, &coll, sendbuf, sendcounts, sdispls, sendtype,
			   recvbuf, recvcounts, rdispls, recvtype, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

static int alltoallw(struct vm_call *call, struct vm_coll *coll,
		     const void *sendbuf, const vm_count sendcounts[],
		     const vm_count sdispls[], const MPI_Datatype sendtypes[],
		     void *recvbuf, const vm_count recvcounts[],
		     const vm_count rdispls[], const MPI_Datatype recvtypes[],
		     MPI_Comm comm)
{
	int rc = vm_coll_open(call, coll, &vm_coll_alltoall, comm);

	coll->uneven = true;
	if (rc == 0)
		rc = vm_coll_side_w(call, coll, &coll->recv, recvbuf,
				    VM_INTS(recvcounts), VM_INTS(rdispls),
				    recvtypes);
	if (rc == 0 && !vm_coll_in_place(coll, sendbuf))
		rc = vm_coll_side_w(call, coll, &coll->send, sendbuf,
				    VM_INTS(sendcounts), VM_INTS(sdispls),
				    sendtypes);
	return rc;
}

int VM_TWIN(PMPI_Alltoallw)(const void *sendbuf, const vm_count sendcounts[],
			    const vm_count sdispls[],
			    const MPI_Datatype sendtypes[], void *recvbuf,
			    const vm_count recvcounts[],
			    const vm_count rdispls[],
			    const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Alltoallw));
	struct vm_coll coll;
	int rc = alltoallw(&call, &coll, sendbuf, sendcounts, sdispls,
			   sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
			   comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Ialltoallw)(const void *sendbuf, const vm_count sendcounts[],
			     const vm_count sdispls[],
			     const MPI_Datatype sendtypes[], void *recvbuf,
			     const vm_count recvcounts[],
			     const vm_count rdispls[],
			     const MPI_Datatype recvtypes[], MPI_Comm comm,
			     MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Ialltoallw));
	struct vm_coll coll;
	int rc = alltoallw(&call, &coll, sendbuf, sendcounts, sdispls,
			   sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
			   comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Alltoallw_init)(const void *sendbuf,
				 const vm_count sendcounts[],
				 const vm_count sdispls[],
				 const MPI_Datatype sendtypes[], void *recvbuf,
				 const vm_count recvcounts[],
				 const vm_count rdispls[],
				 const MPI_Datatype recvtypes[], MPI_Comm comm,
				 MPI_Info info, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Alltoallw_init));
	struct vm_coll coll;
	int rc = alltoallw(&call, &coll, sendbuf, sendcounts, sdispls,
			   sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
			   comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}
