/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI functions that reduce over all ranks of a communicator, for int and
 * MPI_Count (mpi/call/twin.h): for each the interpretation of its arguments, then
 * the calls.
 */
#include "mpi/call/twin.h"
#include "mpi/joint/args.h"

static int reduce(struct vm_call *call, struct vm_coll *coll,
		  const void *sendbuf, void *recvbuf, vm_count count,
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

int VM_TWIN(PMPI_Reduce)(const void *sendbuf, void *recvbuf, vm_count count,
			 MPI_Datatype datatype, MPI_Op op, int root,
			 MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Reduce));
	struct vm_coll coll;
	int rc = reduce(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			root, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Ireduce)(const void *sendbuf, void *recvbuf, vm_count count,
			  MPI_Datatype datatype, MPI_Op op, int root,
			  MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Ireduce));
	struct vm_coll coll;
	int rc = reduce(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			root, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Reduce_init)(const void *sendbuf, void *recvbuf,
			      vm_count count, MPI_Datatype datatype, MPI_Op op,
			      int root, MPI_Comm comm, MPI_Info info,
			      MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Reduce_init));
	struct vm_coll coll;
	int rc = reduce(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			root, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

/* Sets the sides of collectives in which every member receives a result of
 * count elements, except rank 0 of an exscan, whose receive buffer is unused;
 * but if it is the send buffer, all members get the same error. */
static int reduce_to_all(struct vm_call *call, struct vm_coll *coll,
			 const struct vm_coll_kind *kind, const void *sendbuf,
			 void *recvbuf, vm_count count, MPI_Datatype datatype,
			 MPI_Op op, MPI_Comm comm)
{
	int rc = vm_coll_open(call, coll, kind, comm);

	if (rc == 0)
		rc = vm_coll_operands(
			call, coll, sendbuf, recvbuf, count, datatype, op,
			kind != &vm_coll_exscan || coll->comm->rank > 0 ||
				sendbuf == MPI_IN_PLACE || sendbuf == recvbuf);
	return rc;
}

static int allreduce(struct vm_call *call, struct vm_coll *coll,
		     const void *sendbuf, void *recvbuf, vm_count count,
		     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	return reduce_to_all(call, coll, &vm_coll_allreduce, sendbuf, recvbuf,
			     count, datatype, op, comm);
}

int VM_TWIN(PMPI_Allreduce)(const void *sendbuf, void *recvbuf, vm_count count,
			    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Allreduce));
	struct vm_coll coll;
	int rc = allreduce(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			   comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Iallreduce)(const void *sendbuf, void *recvbuf, vm_count count,
			     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
			     MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Iallreduce));
	struct vm_coll coll;
	int rc = allreduce(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			   comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Allreduce_init)(const void *sendbuf, void *recvbuf,
				 vm_count count, MPI_Datatype datatype,
				 MPI_Op op, MPI_Comm comm, MPI_Info info,
				 MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Allreduce_init));
	struct vm_coll coll;
	int rc = allreduce(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			   comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

static int scan(struct vm_call *call, struct vm_coll *coll, const void *sendbuf,
		void *recvbuf, vm_count count, MPI_Datatype datatype, MPI_Op op,
		MPI_Comm comm)
{
	return reduce_to_all(call, coll, &vm_coll_scan, sendbuf, recvbuf, count,
			     datatype, op, comm);
}

int VM_TWIN(PMPI_Scan)(const void *sendbuf, void *recvbuf, vm_count count,
		       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Scan));
	struct vm_coll coll;
	int rc =
		scan(&call, &coll, sendbuf, recvbuf, count, datatype, op, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Iscan)(const void *sendbuf, void *recvbuf, vm_count count,
			MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
			MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Iscan));
	struct vm_coll coll;
	int rc =
		scan(&call, &coll, sendbuf, recvbuf, count, datatype, op, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Scan_init)(const void *sendbuf, void *recvbuf, vm_count count,
			    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
			    MPI_Info info, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Scan_init));
	struct vm_coll coll;
	int rc =
		scan(&call, &coll, sendbuf, recvbuf, count, datatype, op, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

static int exscan(struct vm_call *call, struct vm_coll *coll,
		  const void *sendbuf, void *recvbuf, vm_count count,
		  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	return reduce_to_all(call, coll, &vm_coll_exscan, sendbuf, recvbuf,
			     count, datatype, op, comm);
}

int VM_TWIN(PMPI_Exscan)(const void *sendbuf, void *recvbuf, vm_count count,
			 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Exscan));
	struct vm_coll coll;
	int rc = exscan(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Iexscan)(const void *sendbuf, void *recvbuf, vm_count count,
			  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
			  MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Iexscan));
	struct vm_coll coll;
	int rc = exscan(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Exscan_init)(const void *sendbuf, void *recvbuf,
			      vm_count count, MPI_Datatype datatype, MPI_Op op,
			      MPI_Comm comm, MPI_Info info,
			      MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Exscan_init));
	struct vm_coll coll;
	int rc = exscan(&call, &coll, sendbuf, recvbuf, count, datatype, op,
			comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

static int reduce_scatter(struct vm_call *call, struct vm_coll *coll,
			  const void *sendbuf, void *recvbuf,
			  const vm_count recvcounts[], MPI_Datatype datatype,
			  MPI_Op op, MPI_Comm comm)
{
	MPI_Count total = 0;
	int rc = vm_coll_open(call, coll, &vm_coll_reduce_scatter, comm);

	if (rc == 0)
		rc = vm_coll_shares(call, coll, VM_INTS(recvcounts), &total);
	if (rc == 0)
		rc = vm_coll_operands(call, coll, sendbuf, recvbuf, total,
				      datatype, op,
				      recvcounts[coll->comm->rank] > 0 ||
					      sendbuf == MPI_IN_PLACE);
	return rc;
}

int VM_TWIN(PMPI_Reduce_scatter)(const void *sendbuf, void *recvbuf,
				 const vm_count recvcounts[],
				 MPI_Datatype datatype, MPI_Op op,
				 MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Reduce_scatter));
	struct vm_coll coll;
	int rc = reduce_scatter(&call, &coll, sendbuf, recvbuf, recvcounts,
				datatype, op, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Ireduce_scatter)(const void *sendbuf, void *recvbuf,
				  const vm_count recvcounts[],
				  MPI_Datatype datatype, MPI_Op op,
				  MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Ireduce_scatter));
	struct vm_coll coll;
	int rc = reduce_scatter(&call, &coll, sendbuf, recvbuf, recvcounts,
				datatype, op, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Reduce_scatter_init)(const void *sendbuf, void *recvbuf,
				      const vm_count recvcounts[],
				      MPI_Datatype datatype, MPI_Op op,
				      MPI_Comm comm, MPI_Info info,
				      MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Reduce_scatter_init));
	struct vm_coll coll;
	int rc = reduce_scatter(&call, &coll, sendbuf, recvbuf, recvcounts,
				datatype, op, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}

static int reduce_scatter_block(struct vm_call *call, struct vm_coll *coll,
				const void *sendbuf, void *recvbuf,
				vm_count recvcount, MPI_Datatype datatype,
				MPI_Op op, MPI_Comm comm)
{
	MPI_Count total = 0;
	int rc = vm_coll_open(call, coll, &vm_coll_reduce_scatter, comm);

	if (rc == 0)
		rc = vm_coll_blocks(call, coll, recvcount, &total);
	if (rc == 0)
		rc = vm_coll_operands(call, coll, sendbuf, recvbuf, total,
				      datatype, op, true);
	return rc;
}

int VM_TWIN(PMPI_Reduce_scatter_block)(const void *sendbuf, void *recvbuf,
				       vm_count recvcount,
				       MPI_Datatype datatype, MPI_Op op,
				       MPI_Comm comm)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Reduce_scatter_block));
	struct vm_coll coll;
	int rc = reduce_scatter_block(&call, &coll, sendbuf, recvbuf, recvcount,
				      datatype, op, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int VM_TWIN(PMPI_Ireduce_scatter_block)(const void *sendbuf, void *recvbuf,
					vm_count recvcount,
					MPI_Datatype datatype, MPI_Op op,
					MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Ireduce_scatter_block));
	struct vm_coll coll;
	int rc = reduce_scatter_block(&call, &coll, sendbuf, recvbuf, recvcount,
				      datatype, op, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int VM_TWIN(PMPI_Reduce_scatter_block_init)(const void *sendbuf, void *recvbuf,
					    vm_count recvcount,
					    MPI_Datatype datatype, MPI_Op op,
					    MPI_Comm comm, MPI_Info info,
					    MPI_Request *request)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Reduce_scatter_block_init));
	struct vm_coll coll;
	int rc = reduce_scatter_block(&call, &coll, sendbuf, recvbuf, recvcount,
				      datatype, op, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}
