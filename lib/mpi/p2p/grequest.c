/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generalized requests (MPI 4.1, 13.2).
 */
#include "mpi/p2p/grequest.h"

#include <stdlib.h>

#include "mpi/call/check.h"
#include "mpi/p2p/request.h"
#include "mpi/call/status.h"

int vm_grequest_query(const struct vm_req *req, MPI_Status *status)
{
	const struct vm_grequest *grequest = req->user;
	MPI_Status ignored;

	if (status == MPI_STATUS_IGNORE)
		status = &ignored;
	/* What the program does not set. */
	vm_status_set_empty(status);
	return grequest->query(grequest->extra_state, status);
}

static int free_call(struct vm_grequest *grequest)
{
	MPI_Grequest_free_function *function = grequest->free;

	grequest->free = NULL;
	return function ? function(grequest->extra_state) : MPI_SUCCESS;
}

/* Frees the request after its end, or after MPI_Request_free, when errors can
 * no longer be reported. */
static void grequest_end(struct vm_req *req)
{
	free_call(req->user);
	free(req->user);
}

int vm_grequest_finish(struct vm_call *call, struct vm_req *req,
		       MPI_Status *status)
{
	const struct vm_grequest *how = vm_grequest_of(req);
	int free_rc, rc;

	if (how->end)
		rc = how->end(call, how->extra_state, status);
	else
		rc = vm_grequest_query(req, status);
	free_rc = free_call(req->user);

	vm_req_finish(req, NULL);
	return rc != MPI_SUCCESS ? rc : free_rc;
}

int vm_grequest_cancel(const struct vm_req *req)
{
	const struct vm_grequest *grequest = req->user;

	return grequest->cancel(grequest->extra_state, vm_req_is_done(req));
}

struct vm_req *vm_grequest_new(const struct vm_grequest *how)
{
	struct vm_grequest *grequest = malloc(sizeof(*grequest));
	struct vm_req *req = grequest ? vm_req_new(VM_REQ_GENERAL) : NULL;

	if (!req) {
		free(grequest);
		return NULL;
	}
	*grequest = *how;
	/* Of no communicator. */
	req->node.env = (struct vm_env){ 0 };
	req->data = (struct vm_data){ 0 };
	req->status = vm_status_empty;
	req->user = grequest;
	req->on_free = grequest_end;
	return req;
}

int PMPI_Grequest_start(MPI_Grequest_query_function *query_fn,
			MPI_Grequest_free_function *free_fn,
			MPI_Grequest_cancel_function *cancel_fn,
			void *extra_state, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Grequest_start);
	const struct vm_grequest how = { .query = query_fn,
					 .free = free_fn,
					 .cancel = cancel_fn,
					 .extra_state = extra_state };
	struct vm_req *req;
	int rc = vm_check_pointer(&call, (void *)(uintptr_t)query_fn,
				  "query_fn");

	if (rc == 0)
		rc = vm_check_pointer(&call, (void *)(uintptr_t)free_fn,
				      "free_fn");
	if (rc == 0)
		rc = vm_check_pointer(&call, (void *)(uintptr_t)cancel_fn,
				      "cancel_fn");
	if (rc == 0)
		rc = vm_check_pointer(&call, request, "request");
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	req = vm_grequest_new(&how);
	if (!req)
		return vm_call_exit_self(&call, MPI_ERR_NO_MEM);
	*request = (MPI_Request)req;
	return MPI_SUCCESS;
}

int PMPI_Grequest_complete(MPI_Request request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Grequest_complete);
	struct vm_req *req = vm_request(request);
	int rc = 0;

	/* The handle may have been freed before; vm_check_request() detects
	 * that. */
	if (vm_req_is_null(req) || req->kind != VM_REQ_GENERAL)
		rc = vm_error(&call, MPI_ERR_REQUEST,
			      "the request was not made by "
			      "MPI_Grequest_start");
	if (rc == 0 && vm_grequest_of(req)->end)
		rc = vm_error(&call, MPI_ERR_REQUEST,
			      "the request is one of a file");
	if (rc == 0 && vm_req_is_done(req))
		rc = vm_error(&call, MPI_ERR_REQUEST,
			      "the request is complete already");
	if (rc == 0)
		vm_req_complete(req);
	return vm_call_exit_self(&call, rc);
}
