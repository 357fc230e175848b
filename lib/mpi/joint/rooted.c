/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI functions of rooted collectives that move data, for int and MPI_Count
 * (mpi/call/twin.h): for each the interpretation of its arguments, then the
 * blocking, nonblocking and persistent call.
 */
#include "mpi/call/twin.h"
#include "mpi/joint/args.h"

static int bcast(struct vm_call *call, struct vm_coll *coll, void *buffer,
		 vm_count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
	int rc = vm_coll_open(call, coll, &vm_coll_bcast, comm);

	if (rc == 0)
		rc = vm_coll_root(call, coll, root);
	if (rc == 0 && root != MPI_PROC_NULL)
		rc = vm_coll_side(call, coll, &coll->recv, buffer, count,
				  datatype);
	return rc;
}

int VM_TWIN(PMPI_Bcast)(void *buffer, vm_count count, MPI_Datatype datatype,
			int root, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Bcast));
	struct vm_coll coll;
	int rc = bcast(&call, &coll, buffer, count, datatype, root, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Ibcast)(void *buffer, vm_count count, MPI_Datatype datatype,
			 int root, MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Ibcast));
	struct vm_coll coll;
	int rc = bcast(&call, &coll, buffer, count, datatype, root, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Bcast_init)(void *buffer, vm_count count,
			     MPI_Datatype datatype, int root, MPI_Comm comm,
			     MPI_Info info, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Bcast_init));
	struct vm_coll coll;
	int rc = bcast(&call, &coll, buffer, count, datatype, root, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

/* Opens a rooted collective; *is_root and *is_leaf tell which arguments
 * count. */
static int open_rooted(struct vm_call *call, struct vm_coll *coll,
		       const struct vm_coll_kind *kind, MPI_Comm comm, int root,
		       bool *is_root, bool *is_leaf)
{
	int rc = vm_coll_open(call, coll, kind, comm);

	if (rc == 0)
		rc = vm_coll_root(call, coll, root);
	*is_root = rc == 0 && vm_coll_is_root(coll);
	*is_leaf = rc == 0 && vm_coll_is_leaf(coll);
	return rc;
}

static int gather(struct vm_call *call, struct vm_coll *coll,
		  const void *sendbuf, vm_count sendcount,
		  MPI_Datatype sendtype, void *recvbuf, vm_count recvcount,
		  MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	bool is_root, is_leaf;
	int rc = open_rooted(call, coll, &vm_coll_gather, comm, root, &is_root,
			     &is_leaf);

	if (rc == 0 && is_root)
		rc = vm_coll_side(call, coll, &coll->recv, recvbuf, recvcount,
				  recvtype);
	if (is_leaf && rc == 0 && !(is_root && vm_coll_in_place(coll, sendbuf)))
		rc = vm_coll_side(call, coll, &coll->send, sendbuf, sendcount,
				  sendtype);
	return rc;
}

int VM_TWIN(PMPI_Gather)(const void *sendbuf, vm_count sendcount,
			 MPI_Datatype sendtype, void *recvbuf,
			 vm_count recvcount, MPI_Datatype recvtype, int root,
			 MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Gather));
	struct vm_coll coll;
	int rc = gather(&call, &coll, sendbuf, sendcount, sendtype, recvbuf,
			recvcount, recvtype, root, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Igather)(const void *sendbuf, vm_count sendcount,
			  MPI_Datatype sendtype, void *recvbuf,
			  vm_count recvcount, MPI_Datatype recvtype, int root,
			  MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Igather));
	struct vm_coll coll;
	int rc = gather(&call, &coll, sendbuf, sendcount, sendtype, recvbuf,
			recvcount, recvtype, root, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Gather_init)(const void *sendbuf, vm_count sendcount,
			      MPI_Datatype sendtype, void *recvbuf,
			      vm_count recvcount, MPI_Datatype recvtype,
			      int root, MPI_Comm comm, MPI_Info info,
			      MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Gather_init));
	struct vm_coll coll;
	int rc = gather(&call, &coll, sendbuf, sendcount, sendtype, recvbuf,
			recvcount, recvtype, root, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

static int gatherv(struct vm_call *call, struct vm_coll *coll,
		   const void *sendbuf, vm_count sendcount,
		   MPI_Datatype sendtype, void *recvbuf,
		   const vm_count recvcounts[], const vm_count displs[],
		   MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	bool is_root, is_leaf;
	int rc = open_rooted(call, coll, &vm_coll_gather, comm, root, &is_root,
			     &is_leaf);

	if (rc == 0 && is_root)
		rc = vm_coll_side_v(call, coll, &coll->recv, recvbuf,
				    VM_INTS(recvcounts), VM_INTS(displs),
				    recvtype);
	if (is_leaf && rc == 0 && !(is_root && vm_coll_in_place(coll, sendbuf)))
		rc = vm_coll_side(call, coll, &coll->send, sendbuf, sendcount,
				  sendtype);
	return rc;
}

int VM_TWIN(PMPI_Gatherv)(const void *sendbuf, vm_count sendcount,
			  MPI_Datatype sendtype, void *recvbuf,
			  const vm_count recvcounts[], const vm_count displs[],
			  MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Gatherv));
	struct vm_coll coll;
	int rc = gatherv(&call, &coll, sendbuf, sendcount, sendtype, recvbuf,
			 recvcounts, displs, recvtype, root, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Igatherv)(const void *sendbuf, vm_count sendcount,
			   MPI_Datatype sendtype, void *recvbuf,
			   const vm_count recvcounts[], const vm_count displs[],
			   MPI_Datatype recvtype, int root, MPI_Comm comm,
			   MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Igatherv));
	struct vm_coll coll;
	int rc = gatherv(&call, &coll, sendbuf, sendcount, sendtype, recvbuf,
			 recvcounts, displs, recvtype, root, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Gatherv_init)(const void *sendbuf, vm_count sendcount,
			       MPI_Datatype sendtype, void *recvbuf,
			       const vm_count recvcounts[],
			       const vm_count displs[], MPI_Datatype recvtype,
			       int root, MPI_Comm comm, MPI_Info info,
			       MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Gatherv_init));
	struct vm_coll coll;
	int rc = gatherv(&call, &coll, sendbuf, sendcount, sendtype, recvbuf,
			 recvcounts, displs, recvtype, root, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

static int scatter(struct vm_call *call, struct vm_coll *coll,
		   const void *sendbuf, vm_count sendcount,
		   MPI_Datatype sendtype, void *recvbuf, vm_count recvcount,
		   MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	bool is_root, is_leaf;
	int rc = open_rooted(call, coll, &vm_coll_scatter, comm, root, &is_root,
			     &is_leaf);

	if (rc == 0 && is_root)
		rc = vm_coll_side(call, coll, &coll->send, sendbuf, sendcount,
				  sendtype);
	if (is_leaf && rc == 0 && !(is_root && vm_coll_in_place(coll, recvbuf)))
		rc = vm_coll_side(call, coll, &coll->recv, recvbuf, recvcount,
				  recvtype);
	return rc;
}

int VM_TWIN(PMPI_Scatter)(const void *sendbuf, vm_count sendcount,
			  MPI_Datatype sendtype, void *recvbuf,
			  vm_count recvcount, MPI_Datatype recvtype, int root,
			  MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Scatter));
	struct vm_coll coll;
	int rc = scatter(&call, &coll, sendbuf, sendcount, sendtype, recvbuf,
			 recvcount, recvtype, root, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Iscatter)(const void *sendbuf, vm_count sendcount,
			   MPI_Datatype sendtype, void *recvbuf,
			   vm_count recvcount, MPI_Datatype recvtype, int root,
			   MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Iscatter));
	struct vm_coll coll;
	int rc = scatter(&call, &coll, sendbuf, sendcount, sendtype, recvbuf,
			 recvcount, recvtype, root, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Scatter_init)(const void *sendbuf, vm_count sendcount,
			       MPI_Datatype sendtype, void *recvbuf,
			       vm_count recvcount, MPI_Datatype recvtype,
			       int root, MPI_Comm comm, MPI_Info info,
			       MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Scatter_init));
	struct vm_coll coll;
	int rc = scatter(&call, &coll, sendbuf, sendcount, sendtype, recvbuf,
			 recvcount, recvtype, root, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

static int scatterv(struct vm_call *call, struct vm_coll *coll,
		    const void *sendbuf, const vm_count sendcounts[],
		    const vm_count displs[], MPI_Datatype sendtype,
		    void *recvbuf, vm_count recvcount, MPI_Datatype recvtype,
		    int root, MPI_Comm comm)
{
	bool is_root, is_leaf;
	int rc = open_rooted(call, coll, &vm_coll_scatter, comm, root, &is_root,
			     &is_leaf);

	coll->uneven = true;
	if (rc == 0 && is_root)
		rc = vm_coll_side_v(call, coll, &coll->send, sendbuf,
				    VM_INTS(sendcounts), VM_INTS(displs),
				    sendtype);
	if (is_leaf && rc == 0 && !(is_root && vm_coll_in_place(coll, recvbuf)))
		rc = vm_coll_side(call, coll, &coll->recv, recvbuf, recvcount,
				  recvtype);
	return rc;
}

int VM_TWIN(PMPI_Scatterv)(const void *sendbuf, const vm_count sendcounts[],
			   const vm_count displs[], MPI_Datatype sendtype,
			   void *recvbuf, vm_count recvcount,
			   MPI_Datatype recvtype, int root, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Scatterv));
	struct vm_coll coll;
	int rc = scatterv(&call, &coll, sendbuf, sendcounts, displs, sendtype,
			  recvbuf, recvcount, recvtype, root, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Iscatterv)(const void *sendbuf, const vm_count sendcounts[],
			    const vm_count displs[], MPI_Datatype sendtype,
			    void *recvbuf, vm_count recvcount,
			    MPI_Datatype recvtype, int root, MPI_Comm comm,
			    MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Iscatterv));
	struct vm_coll coll;
	int rc = scatterv(&call, &coll, sendbuf, sendcounts, displs, sendtype,
			  recvbuf, recvcount, recvtype, root, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Scatterv_init)(const void *sendbuf,
				const vm_count sendcounts[],
				const vm_count displs[], MPI_Datatype sendtype,
				void *recvbuf, vm_count recvcount,
				MPI_Datatype recvtype, int root, MPI_Comm comm,
				MPI_Info info, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Scatterv_init));
	struct vm_coll coll;
	int rc = scatterv(&call, &coll, sendbuf, sendcounts, displs, sendtype,
			  recvbuf, recvcount, recvtype, root, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}
