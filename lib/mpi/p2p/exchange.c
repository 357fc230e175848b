/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A send and a receive in one request.
 */
#include <stdlib.h>

#include "mpi/call/twin.h"
#include "mpi/p2p/joined.h"
#include "mpi/p2p/request.h"
#include "mpi/p2p/route.h"

/* Starts both.  `memory`, if any, holds what is sent and is freed when the
 * request is complete, or on an error. */
static int start(struct vm_call *call, MPI_Comm handle,
		 const struct vm_route *send, const struct vm_route *recv,
		 void *memory, MPI_Request *request)
{
	const struct vm_comm *comm = vm_comm_in(call->mpi, handle);
	struct vm_joined *joined = vm_joined_new(comm->context, 2);
	struct vm_req *req;
	int rc;

	if (!joined) {
		free(memory);
		return MPI_ERR_NO_MEM;
	}
	joined->memory = memory;
	rc = vm_route_irecv(recv, &req);
	if (rc == 0) {
		joined->receive = joined->count;
		vm_joined_add(joined, req);
		req = &vm_req_done_send;
		if (send->peer)
			rc = vm_isend(send->peer, send->env, &send->data,
				      VM_SEND_STANDARD, &req);
	}
	if (rc != 0) {
		vm_joined_give_up(joined);
		return rc;
	}
	vm_joined_add(joined, req);
	vm_joined_start(joined, request);
	return 0;
}

int VM_TWIN(PMPI_Isendrecv)(const void *sendbuf, vm_count sendcount,
			    MPI_Datatype sendtype, int dest, int sendtag,
			    void *recvbuf, vm_count recvcount,
			    MPI_Datatype recvtype, int source, int recvtag,
			    MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Isendrecv));
	struct vm_route send, recv;
	int rc = vm_route_send(&call, &send, sendbuf, sendcount, sendtype, dest,
			       sendtag, comm);

	rc = vm_error_of_side(&call, rc, true);
	if (rc == 0)
		rc = vm_error_of_side(&call,
				      vm_route_recv(&call, &recv, recvbuf,
						    recvcount, recvtype, source,
						    recvtag, comm),
				      false);
	if (rc == 0)
		rc = vm_check_pointer(&call, request, "request");
	if (rc == 0)
		rc = start(&call, comm, &send, &recv, NULL, request);
	return vm_call_exit(&call, comm, rc);
}

int VM_TWIN(PMPI_Isendrecv_replace)(void *buf, vm_count count,
				    MPI_Datatype datatype, int dest,
				    int sendtag, int source, int recvtag,
				    MPI_Comm comm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Isendrecv_replace));
	struct vm_route send, recv;
	struct vm_data copy;
	int rc = vm_route_send(&call, &send, buf, count, datatype, dest,
			       sendtag, comm);

	if (rc == 0)
		rc = vm_route_recv(&call, &recv, buf, count, datatype, source,
				   recvtag, comm);
	if (rc == 0)
		rc = vm_check_pointer(&call, request, "request");
	if (rc != 0)
		return vm_call_exit(&call, comm, rc);
	copy = vm_data_bytes(malloc(send.data.bytes + 1), send.data.bytes);
	if (!copy.addr)
		return vm_call_exit(&call, comm, MPI_ERR_NO_MEM);
	vm_data_copy_slow(&copy, &send.data);
	send.data = copy;
	rc = start(&call, comm, &send, &recv, copy.addr, request);
	return vm_call_exit(&call, comm, rc);
}
