/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI functions that reduce over all ranks of a communicator: for each the
 * interpretation of its arguments, then the calls.
 */
#include "mpi/joint/args.h"

static int reduce(struct vm_call *call, struct vm_coll *coll,
		  const void *sendbuf, void *recvbuf, int count,
		  MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
	int rc = vm_coll_open(call, coll, &vm_coll_reduce, comm);

	if (rc == 0)
		rc = vm_coll_root(call, coll, root);
	if (rc == 0 && root != MPI_PROC_NULL)
		rc = vm_coll_operands(call, coll, sendbuf, recvbuf, count,
				      datatype, op, vm_coll_is_root(coll));
	return rc;
}

int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count,
		MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Reduce);
	struct vm_coll coll;
	int rc = reduce(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			root, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Ireduce(const void *sendbuf, void *recvbuf, int count,
		 MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
		 MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Ireduce);
	struct vm_coll coll;
	int rc = reduce(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			root, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int PMPI_Reduce_init(const void *sendbuf, void *recvbuf, int count,
		     MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
		     MPI_Info info, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Reduce_init);
	struct vm_coll coll;
	int rc = reduce(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			root, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

/* Sets the sides of collectives in which every member receives a result of
 * count elements, except rank 0 of an exscan, whose receive buffer is
 * unused. */
static int reduce_to_all(struct vm_call *call, struct vm_coll *coll,
			 const struct vm_coll_kind *kind, const void *sendbuf,
			 void *recvbuf, int count, MPI_Datatype datatype,
			 MPI_Op op, MPI_Comm comm)
{
	int rc = vm_coll_open(call, coll, kind, comm);

	if (rc == 0)
		rc = vm_coll_operands(
			call, coll, sendbuf, recvbuf, count, datatype, op,
			kind != &vm_coll_exscan || coll->comm->rank > 0 ||
				sendbuf == MPI_IN_PLACE);
	return rc;
}

static int allreduce(struct vm_call *call, struct vm_coll *coll,
		     const void *sendbuf, void *recvbuf, int count,
		     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	return reduce_to_all(call, coll, &vm_coll_allreduce, sendbuf, recvbuf,
			     count, datatype, op, comm);
}

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
		   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Allreduce);
	struct vm_coll coll;
	int rc = allreduce(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			   comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count,
		    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
		    MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Iallreduce);
	struct vm_coll coll;
	int rc = allreduce(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			   comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int PMPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count,
			MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
			MPI_Info info, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Allreduce_init);
	struct vm_coll coll;
	int rc = allreduce(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			   comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

static int scan(struct vm_call *call, struct vm_coll *coll, const void *sendbuf,
		void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
		MPI_Comm comm)
{
	return reduce_to_all(call, coll, &vm_coll_scan, sendbuf, recvbuf, count,
			     datatype, op, comm);
}

int PMPI_Scan(const void *sendbuf, void *recvbuf, int count,
	      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Scan);
	struct vm_coll coll;
	int rc =
		scan(&call, &coll, sendbuf, recvbuf, count, datatype, op, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Iscan(const void *sendbuf, void *recvbuf, int count,
	       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
	       MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Iscan);
	struct vm_coll coll;
	int rc =
		scan(&call, &coll, sendbuf, recvbuf, count, datatype, op, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int PMPI_Scan_init(const void *sendbuf, void *recvbuf, int count,
		   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
		   MPI_Info info, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Scan_init);
	struct vm_coll coll;
	int rc =
		scan(&call, &coll, sendbuf, recvbuf, count, datatype, op, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

static int exscan(struct vm_call *call, struct vm_coll *coll,
		  const void *sendbuf, void *recvbuf, int count,
		  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	return reduce_to_all(call, coll, &vm_coll_exscan, sendbuf, recvbuf,
			     count, datatype, op, comm);
}

int PMPI_Exscan(const void *sendbuf, void *recvbuf, int count,
		MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Exscan);
	struct vm_coll coll;
	int rc = exscan(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Iexscan(const void *sendbuf, void *recvbuf, int count,
		 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
		 MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Iexscan);
	struct vm_coll coll;
	int rc = exscan(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int PMPI_Exscan_init(const void *sendbuf, void *recvbuf, int count,
		     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
		     MPI_Info info, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Exscan_init);
	struct vm_coll coll;
	int rc = exscan(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

/* Checks the counts of all members; *total is their sum. */
static int check_shares(struct vm_call *call, const struct vm_comm *comm,
			const int recvcounts[], MPI_Count *total)
{
	int rc = vm_check_pointer(call, recvcounts, "recvcounts");

	*total = 0;
	for (int i = 0; rc == 0 && i < comm->local_size; i++) {
		if (recvcounts[i] < 0)
			rc = vm_error(call, MPI_ERR_COUNT,
				      "recvcounts[%d] is %d, must not be "
				      "negative",
				      i, recvcounts[i]);
		*total += recvcounts[i];
	}
	return rc;
}

/* Returns a hash of the counts. */
static int shares_hash(const int recvcounts[], int n)
{
	uint64_t hash = 0;

	for (int i = 0; i < n; i++)
		hash = (hash ^ (uint32_t)recvcounts[i]) * 0x9e3779b97f4a7c15u;
	return (int)(hash >> 33);
}

static int reduce_scatter(struct vm_call *call, struct vm_coll *coll,
			  const void *sendbuf, void *recvbuf,
			  const int recvcounts[], MPI_Datatype datatype,
			  MPI_Op op, MPI_Comm comm)
{
	MPI_Count total = 0;
	int rc = vm_coll_open(call, coll, &vm_coll_reduce_scatter, comm);

	if (rc == 0)
		rc = check_shares(call, coll->comm, recvcounts, &total);
	if (rc == 0)
		rc = vm_coll_operands(call, coll, sendbuf, recvbuf, total,
				      datatype, op,
				      recvcounts[coll->comm->rank] > 0 ||
					      sendbuf == MPI_IN_PLACE);
	if (rc == 0) {
		coll->recv.counts = recvcounts;
		/* Each side of an intercommunicator has its own. */
		if (!coll->first_size)
			coll->shares = shares_hash(recvcounts, coll->size);
	}
	return rc;
}

int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf,
			const int recvcounts[], MPI_Datatype datatype,
			MPI_Op op, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Reduce_scatter);
	struct vm_coll coll;
	int rc = reduce_scatter(&call, &coll, sendbuf, recvbuf, recvcounts,
				datatype, op, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Ireduce_scatter(const void *sendbuf, void *recvbuf,
			 const int recvcounts[], MPI_Datatype datatype,
			 MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Ireduce_scatter);
	struct vm_coll coll;
	int rc = reduce_scatter(&call, &coll, sendbuf, recvbuf, recvcounts,
				datatype, op, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int PMPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf,
			     const int recvcounts[], MPI_Datatype datatype,
			     MPI_Op op, MPI_Comm comm, MPI_Info info,
			     MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Reduce_scatter_init);
	struct vm_coll coll;
	int rc = reduce_scatter(&call, &coll, sendbuf, recvbuf, recvcounts,
				datatype, op, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

static int reduce_scatter_block(struct vm_call *call, struct vm_coll *coll,
				const void *sendbuf, void *recvbuf,
				int recvcount, MPI_Datatype datatype, MPI_Op op,
				MPI_Comm comm)
{
	int rc = vm_coll_open(call, coll, &vm_coll_reduce_scatter, comm);

	if (rc == 0)
		rc = vm_coll_operands(call, coll, sendbuf, recvbuf,
				      (MPI_Count)recvcount *
					      coll->comm->local_size,
				      datatype, op, true);
	return rc;
}

int PMPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
			      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Reduce_scatter_block);
	struct vm_coll coll;
	int rc = reduce_scatter_block(&call, &coll, sendbuf, recvbuf, recvcount,
				      datatype, op, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf,
			       int recvcount, MPI_Datatype datatype, MPI_Op op,
			       MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Ireduce_scatter_block);
	struct vm_coll coll;
	int rc = reduce_scatter_block(&call, &coll, sendbuf, recvbuf, recvcount,
				      datatype, op, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int PMPI_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf,
				   int recvcount, MPI_Datatype datatype,
				   MPI_Op op, MPI_Comm comm, MPI_Info info,
				   MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Reduce_scatter_block_init);
	struct vm_coll coll;
	int rc = reduce_scatter_block(&call, &coll, sendbuf, recvbuf, recvcount,
				      datatype, op, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}
