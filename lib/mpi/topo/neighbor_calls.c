/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI functions of neighbourhood collectives, for int and MPI_Count
 * (mpi/call/twin.h): for each the interpretation of its arguments, then the
 * blocking, nonblocking and persistent call.
 */
#include "mpi/call/check.h"
#include "mpi/call/twin.h"
#include "mpi/p2p/joined.h"
#include "mpi/topo/neighbor.h"
#include "mpi/topo/neighbor_persist.h"

/* Both sides of a call. */
static int nbr_fill(struct vm_call *call, struct vm_nbr *nbr, MPI_Comm comm,
		    const struct vm_nbr_side *send, MPI_Datatype sendtype,
		    const struct vm_nbr_side *recv, MPI_Datatype recvtype)
{
	int rc = vm_nbr_open(call, nbr, comm);

	if (rc == 0)
		rc = vm_nbr_send(call, nbr, send, sendtype);
	if (rc == 0)
		rc = vm_nbr_recv(call, nbr, recv, recvtype);
	return rc;
}

static int nbr_run(struct vm_call *call, struct vm_nbr *nbr, MPI_Comm comm,
		   int rc)
{
	struct vm_joined *joined;

	if (rc == 0)
		rc = vm_nbr_start(nbr, &joined);
	if (rc == 0)
		rc = vm_joined_wait(joined);
	return vm_call_exit(call, comm, rc);
}

static int nbr_begin(struct vm_call *call, struct vm_nbr *nbr, MPI_Comm comm,
		     int rc, MPI_Request *request)
{
	struct vm_joined *joined;

	if (rc == 0)
		rc = vm_check_pointer(call, request, "request");
	if (rc == 0)
		rc = vm_nbr_start(nbr, &joined);
	if (rc == 0)
		vm_joined_start(joined, request);
	return vm_call_exit(call, comm, rc);
}

static int allgather(struct vm_call *call, struct vm_nbr *nbr,
		     const void *sendbuf, vm_count sendcount,
		     MPI_Datatype sendtype, void *recvbuf, vm_count recvcount,
		     MPI_Datatype recvtype, MPI_Comm comm)
{
	struct vm_nbr_side send = { .buf = sendbuf,
				    .count = sendcount,
				    .same = true };
	struct vm_nbr_side recv = { .buf = recvbuf, .count = recvcount };

	return nbr_fill(call, nbr, comm, &send, sendtype, &recv, recvtype);
}

int VM_TWIN(PMPI_Neighbor_allgather)(const void *sendbuf, vm_count sendcount,
				     MPI_Datatype sendtype, void *recvbuf,
				     vm_count recvcount, MPI_Datatype recvtype,
				     MPI_Comm comm)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Neighbor_allgather));
	struct vm_nbr nbr;
	int rc = allgather(&call, &nbr, sendbuf, sendcount, sendtype, recvbuf,
			   recvcount, recvtype, comm);

	return nbr_run(&call, &nbr, comm, rc);
}

int VM_TWIN(PMPI_Ineighbor_allgather)(const void *sendbuf, vm_count sendcount,
				      MPI_Datatype sendtype, void *recvbuf,
				      vm_count recvcount, MPI_Datatype recvtype,
				      MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Ineighbor_allgather));
	struct vm_nbr nbr;
	int rc = allgather(&call, &nbr, sendbuf, sendcount, sendtype, recvbuf,
			   recvcount, recvtype, comm);

	return nbr_begin(&call, &nbr, comm, rc, request);
}

int VM_TWIN(PMPI_Neighbor_allgather_init)(const void *sendbuf,
					  vm_count sendcount,
					  MPI_Datatype sendtype, void *recvbuf,
					  vm_count recvcount,
					  MPI_Datatype recvtype, MPI_Comm comm,
					  MPI_Info info, MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Neighbor_allgather_init));
	struct vm_nbr nbr;
	int rc = allgather(&call, &nbr, sendbuf, sendcount, sendtype, recvbuf,
			   recvcount, recvtype, comm);

	return vm_nbr_close_init(&call, &nbr, comm, rc, info, request);
}

static int allgatherv(struct vm_call *call, struct vm_nbr *nbr,
		      const void *sendbuf, vm_count sendcount,
		      MPI_Datatype sendtype, void *recvbuf,
		      const vm_count recvcounts[], const vm_count displs[],
		      MPI_Datatype recvtype, MPI_Comm comm)
{
	struct vm_nbr_side send = { .buf = sendbuf,
				    .count = sendcount,
				    .same = true };
	struct vm_nbr_side recv = { .buf = recvbuf,
				    .counts = VM_INTS(recvcounts),
				    .displs = VM_INTS(displs) };

	return nbr_fill(call, nbr, comm, &send, sendtype, &recv, recvtype);
}

int VM_TWIN(PMPI_Neighbor_allgatherv)(const void *sendbuf, vm_count sendcount,
				      MPI_Datatype sendtype, void *recvbuf,
				      const vm_count recvcounts[],
				      const vm_count displs[],
				      MPI_Datatype recvtype, MPI_Comm comm)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Neighbor_allgatherv));
	struct vm_nbr nbr;
	int rc = allgatherv(&call, &nbr, sendbuf, sendcount, sendtype, recvbuf,
			    recvcounts, displs, recvtype, comm);

	return nbr_run(&call, &nbr, comm, rc);
}

int VM_TWIN(PMPI_Ineighbor_allgatherv)(const void *sendbuf, vm_count sendcount,
				       MPI_Datatype sendtype, void *recvbuf,
				       const vm_count recvcounts[],
				       const vm_count displs[],
				       MPI_Datatype recvtype, MPI_Comm comm,
				       MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Ineighbor_allgatherv));
	struct vm_nbr nbr;
	int rc = allgatherv(&call, &nbr, sendbuf, sendcount, sendtype, recvbuf,
			    recvcounts, displs, recvtype, comm);

	return nbr_begin(&call, &nbr, comm, rc, request);
}

int VM_TWIN(PMPI_Neighbor_allgatherv_init)(const void *sendbuf,
					   vm_count sendcount,
					   MPI_Datatype sendtype, void *recvbuf,
					   const vm_count recvcounts[],
					   const vm_count displs[],
					   MPI_Datatype recvtype, MPI_Comm comm,
					   MPI_Info info, MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Neighbor_allgatherv_init));
	struct vm_nbr nbr;
	int rc = allgatherv(&call, &nbr, sendbuf, sendcount, sendtype, recvbuf,
			    recvcounts, displs, recvtype, comm);

	return vm_nbr_close_init(&call, &nbr, comm, rc, info, request);
}

static int alltoall(struct vm_call *call, struct vm_nbr *nbr,
		    const void *sendbuf, vm_count sendcount,
		    MPI_Datatype sendtype, void *recvbuf, vm_count recvcount,
		    MPI_Datatype recvtype, MPI_Comm comm)
{
	struct vm_nbr_side send = { .buf = sendbuf, .count = sendcount };
	struct vm_nbr_side recv = { .buf = recvbuf, .count = recvcount };

	return nbr_fill(call, nbr, comm, &send, sendtype, &recv, recvtype);
}

int VM_TWIN(PMPI_Neighbor_alltoall)(const void *sendbuf, vm_count sendcount,
				    MPI_Datatype sendtype, void *recvbuf,
				    vm_count recvcount, MPI_Datatype recvtype,
				    MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Neighbor_alltoall));
	struct vm_nbr nbr;
	int rc = alltoall(&call, &nbr, sendbuf, sendcount, sendtype, recvbuf,
			  recvcount, recvtype, comm);

	return nbr_run(&call, &nbr, comm, rc);
}

int VM_TWIN(PMPI_Ineighbor_alltoall)(const void *sendbuf, vm_count sendcount,
				     MPI_Datatype sendtype, void *recvbuf,
				     vm_count recvcount, MPI_Datatype recvtype,
				     MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Ineighbor_alltoall));
	struct vm_nbr nbr;
	int rc = alltoall(&call, &nbr, sendbuf, sendcount, sendtype, recvbuf,
			  recvcount, recvtype, comm);

	return nbr_begin(&call, &nbr, comm, rc, request);
}

int VM_TWIN(PMPI_Neighbor_alltoall_init)(const void *sendbuf,
					 vm_count sendcount,
					 MPI_Datatype sendtype, void *recvbuf,
					 vm_count recvcount,
					 MPI_Datatype recvtype, MPI_Comm comm,
					 MPI_Info info, MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Neighbor_alltoall_init));
	struct vm_nbr nbr;
	int rc = alltoall(&call, &nbr, sendbuf, sendcount, sendtype, recvbuf,
			  recvcount, recvtype, comm);

	return vm_nbr_close_init(&call, &nbr, comm, rc, info, request);
}

static int alltoallv(struct vm_call *call, struct vm_nbr *nbr,
		     const void *sendbuf, const vm_count sendcounts[],
		     const vm_count sdispls[], MPI_Datatype sendtype,
		     void *recvbuf, const vm_count recvcounts[],
		     const vm_count rdispls[], MPI_Datatype recvtype,
		     MPI_Comm comm)
{
	struct vm_nbr_side send = { .buf = sendbuf,
				    .counts = VM_INTS(sendcounts),
				    .displs = VM_INTS(sdispls) };
	struct vm_nbr_side recv = { .buf = recvbuf,
				    .counts = VM_INTS(recvcounts),
				    .displs = VM_INTS(rdispls) };

	return nbr_fill(call, nbr, comm, &send, sendtype, &recv, recvtype);
}

int VM_TWIN(PMPI_Neighbor_alltoallv)(const void *sendbuf,
				     const vm_count sendcounts[],
				     const vm_count sdispls[],
				     MPI_Datatype sendtype, void *recvbuf,
				     const vm_count recvcounts[],
				     const vm_count rdispls[],
				     MPI_Datatype recvtype, MPI_Comm comm)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Neighbor_alltoallv));
	struct vm_nbr nbr;
	int rc = alltoallv(&call, &nbr, sendbuf, sendcounts, sdispls, sendtype,
			   recvbuf, recvcounts, rdispls, recvtype, comm);

	return nbr_run(&call, &nbr, comm, rc);
}

int VM_TWIN(PMPI_Ineighbor_alltoallv)(
	const void *sendbuf, const vm_count sendcounts[],
	const vm_count sdispls[], MPI_Datatype sendtype, void *recvbuf,
	const vm_count recvcounts[], const vm_count rdispls[],
	MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Ineighbor_alltoallv));
	struct vm_nbr nbr;
	int rc = alltoallv(&call, &nbr, sendbuf, sendcounts, sdispls, sendtype,
			   recvbuf, recvcounts, rdispls, recvtype, comm);

	return nbr_begin(&call, &nbr, comm, rc, request);
}

int VM_TWIN(PMPI_Neighbor_alltoallv_init)(const void *sendbuf,
					  const vm_count sendcounts[],
					  const vm_count sdispls[],
					  MPI_Datatype sendtype, void *recvbuf,
					  const vm_count recvcounts[],
					  const vm_count rdispls[],
					  MPI_Datatype recvtype, MPI_Comm comm,
					  MPI_Info info, MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Neighbor_alltoallv_init));
	struct vm_nbr nbr;
	int rc = alltoallv(&call, &nbr, sendbuf, sendcounts, sdispls, sendtype,
			   recvbuf, recvcounts, rdispls, recvtype, comm);

	return vm_nbr_close_init(&call, &nbr, comm, rc, info, request);
}

static int alltoallw(struct vm_call *call, struct vm_nbr *nbr,
		     const void *sendbuf, const vm_count sendcounts[],
		     const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
		     void *recvbuf, const vm_count recvcounts[],
		     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
		     MPI_Comm comm)
{
	struct vm_nbr_side send = { .buf = sendbuf,
				    .counts = VM_INTS(sendcounts),
				    .displs = VM_INTS(sdispls),
				    .types = sendtypes };
	struct vm_nbr_side recv = { .buf = recvbuf,
				    .counts = VM_INTS(recvcounts),
				    .displs = VM_INTS(rdispls),
				    .types = recvtypes };

	return nbr_fill(call, nbr, comm, &send, MPI_DATATYPE_NULL, &recv,
			MPI_DATATYPE_NULL);
}

int VM_TWIN(PMPI_Neighbor_alltoallw)(
	const void *sendbuf, const vm_count sendcounts[],
	const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
	const vm_count recvcounts[], const MPI_Aint rdispls[],
	const MPI_Datatype recvtypes[], MPI_Comm comm)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Neighbor_alltoallw));
	struct vm_nbr nbr;
	int rc = alltoallw(&call, &nbr, sendbuf, sendcounts, sdispls, sendtypes,
			   recvbuf, recvcounts, rdispls, recvtypes, comm);

	return nbr_run(&call, &nbr, comm, rc);
}

int VM_TWIN(PMPI_Ineighbor_alltoallw)(
	const void *sendbuf, const vm_count sendcounts[],
	const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
	const vm_count recvcounts[], const MPI_Aint rdispls[],
	const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Ineighbor_alltoallw));
	struct vm_nbr nbr;
	int rc = alltoallw(&call, &nbr, sendbuf, sendcounts, sdispls, sendtypes,
			   recvbuf, recvcounts, rdispls, recvtypes, comm);

	return nbr_begin(&call, &nbr, comm, rc, request);
}

int VM_TWIN(PMPI_Neighbor_alltoallw_init)(
	const void *sendbuf, const vm_count sendcounts[],
	const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
	const vm_count recvcounts[], const MPI_Aint rdispls[],
	const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
	MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Neighbor_alltoallw_init));
	struct vm_nbr nbr;
	int rc = alltoallw(&call, &nbr, sendbuf, sendcounts, sdispls, sendtypes,
			   recvbuf, recvcounts, rdispls, recvtypes, comm);

	return vm_nbr_close_init(&call, &nbr, comm, rc, info, request);
}
