/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cancelling and freeing requests.
 */
#include "core/comm/cancel.h"
#include "mpi/call/check.h"
#include "mpi/p2p/grequest.h"
#include "mpi/p2p/request.h"

/* Checks a request that must not be null or an incomplete collective. */
static int check_real(struct vm_call *call, const MPI_Request *request)
{
	int rc = vm_check_pointer(call, request, "request");

	if (rc == 0)
		rc = vm_check_request(call, vm_request(*request));
	if (rc == 0 && *request == MPI_REQUEST_NULL)
		rc = vm_error(call, MPI_ERR_REQUEST, "MPI_REQUEST_NULL");
	/* MPI 4.1, 6.12: the other ranks count on this one. */
	if (rc == 0 && vm_request(*request)->kind == VM_REQ_COLL &&
	    vm_request(*request)->active &&
	    !vm_req_is_done(vm_request(*request)))
		rc = vm_error(call, MPI_ERR_REQUEST,
			      "a nonblocking collective must be completed");
	return rc;
}

int PMPI_Cancel(MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Cancel);
	int rc = check_real(&call, request);

	if (rc == 0 && vm_request_is_idle(vm_request(*request)))
		rc = vm_error(&call, MPI_ERR_REQUEST,
			      "the persistent request is not started");
	if (rc == 0 && vm_request(*request)->kind == VM_REQ_GENERAL)
		rc = vm_grequest_cancel(vm_request(*request));
	else if (rc == 0)
		vm_req_cancel(vm_request(*request));
	return vm_call_exit_self(&call, rc);
}

int PMPI_Request_free(MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Request_free);
	int rc = check_real(&call, request);

	if (rc == 0) {
		vm_req_detach(vm_request(*request));
		*request = MPI_REQUEST_NULL;
	}
	return vm_call_exit_self(&call, rc);
}
