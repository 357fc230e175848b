/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of buffered sends, for int and MPI_Count (mpi/call/twin.h).
 */
#include "mpi/call/check.h"
#include "mpi/call/twin.h"
#include "mpi/p2p/bsend.h"
#include "mpi/p2p/request.h"

int VM_TWIN(PMPI_Bsend)(const void *buf, vm_count count, MPI_Datatype datatype,
			int dest, int tag, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Bsend));
	int rc = vm_bsend_call(&call, buf, count, datatype, dest, tag, comm);

	return vm_call_exit(&call, comm, rc);
}

int VM_TWIN(PMPI_Ibsend)(const void *buf, vm_count count, MPI_Datatype datatype,
			 int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Ibsend));
	int rc = vm_check_pointer(&call, request, "request");

	if (rc == 0)
		rc = vm_bsend_call(&call, buf, count, datatype, dest, tag,
				   comm);
	if (rc == 0)
		*request = (MPI_Request)&vm_req_done_send;
	return vm_call_exit(&call, comm, rc);
}
