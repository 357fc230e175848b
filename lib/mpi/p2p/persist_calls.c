/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that make persistent messages, for int and MPI_Count
 * (mpi/call/twin.h).
 */
#include "mpi/call/twin.h"
#include "mpi/p2p/persist.h"

int VM_TWIN(PMPI_Send_init)(const void *buf, vm_count count,
			    MPI_Datatype datatype, int dest, int tag,
			    MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Send_init));
	int rc = vm_persist_send(&call, request, VM_SEND_STANDARD, buf, count,
				 datatype, dest, tag, comm);

	return vm_call_exit(&call, comm, rc);
}

int VM_TWIN(PMPI_Rsend_init)(const void *buf, vm_count count,
			     MPI_Datatype datatype, int dest, int tag,
			     MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Rsend_init));
	int rc = vm_persist_send(&call, request, VM_SEND_STANDARD, buf, count,
				 datatype, dest, tag, comm);

	return vm_call_exit(&call, comm, rc);
}

int VM_TWIN(PMPI_Ssend_init)(const void *buf, vm_count count,
			     MPI_Datatype datatype, int dest, int tag,
			     MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Ssend_init));
	int rc = vm_persist_send(&call, request, VM_SEND_SYNC, buf, count,
				 datatype, dest, tag, comm);

	return vm_call_exit(&call, comm, rc);
}

int VM_TWIN(PMPI_Bsend_init)(const void *buf, vm_count count,
			     MPI_Datatype datatype, int dest, int tag,
			     MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Bsend_init));
	int rc = vm_persist_bsend(&call, request, buf, count, datatype, dest,
				  tag, comm);

	return vm_call_exit(&call, comm, rc);
}

int VM_TWIN(PMPI_Recv_init)(void *buf, vm_count count, MPI_Datatype datatype,
			    int source, int tag, MPI_Comm comm,
			    MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Recv_init));
	int rc = vm_persist_recv(&call, request, buf, count, datatype, source,
				 tag, comm);

	return vm_call_exit(&call, comm, rc);
}
