/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI functions of the barrier.
 */
#include "mpi/joint/args.h"

static int barrier(struct vm_call *call, struct vm_coll *coll, MPI_Comm comm)
{
	return vm_coll_open(call, coll, &vm_coll_barrier, comm);
}

int PMPI_Barrier(MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Barrier);
	struct vm_coll coll;
	int rc = barrier(&call, &coll, comm);

	return vm_coll_close(&call, &coll, comm, rc);
}

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Ibarrier);
	struct vm_coll coll;
	int rc = barrier(&call, &coll, comm);

	return vm_coll_close_start(&call, &coll, comm, rc, request);
}

int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Barrier_init);
	struct vm_coll coll;
	int rc = barrier(&call, &coll, comm);

	return vm_coll_close_init(&call, &coll, comm, rc, info, request);
}
