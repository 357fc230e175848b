/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent requests: arguments kept for many starts.
 */
#include "mpi/p2p/persist.h"

#include <stdlib.h>

#include "mpi/p2p/bsend.h"
#include "mpi/p2p/request.h"
#include "mpi/p2p/route.h"
#include "mpi/p2p/typed.h"
#include "mpi/call/status.h"
#include "mpi/call/persist.h"
#include "mpi/comm/comm.h"

static void persist_free(struct vm_req *req)
{
	struct vm_persist *persist = req->user;

	vm_layout_drop(persist->data.layout);
	if (persist->type)
		vm_type_drop(persist->type);
	free(persist);
}

static int start_send(struct vm_req *req, struct vm_persist *persist)
{
	req->data = persist->data;
	vm_self->signature = persist->signature;
	return vm_send_start(req, persist->peer, persist->mode);
}

static int start_recv(struct vm_req *req, struct vm_persist *persist)
{
	req->data = persist->data;
	return vm_recv_start(req);
}

static int start_proc_null(struct vm_req *req, struct vm_persist *persist)
{
	vm_request_complete_now(req, &vm_status_proc_null);
	return 0;
}

/* Starts a buffered send, complete as soon as the message is in the buffer. */
static int start_bsend(struct vm_req *req, struct vm_persist *persist)
{
	struct vm_mpi *mpi = vm_mpi_self();
	struct vm_bsend *bsend = vm_bsend_of(
		mpi, vm_comm_of_context(mpi, req->node.env.context));
	int rc;

	vm_self->signature = persist->signature;
	rc = vm_bsend(bsend, persist->peer, req->node.env, &persist->data);
	if (rc == 0)
		vm_request_complete_now(req, &vm_status_empty);
	return rc;
}

/* Makes an inactive request for the route. */
static int persist_new(struct vm_call *call, MPI_Request *request,
		       const struct vm_route *route, enum vm_req_kind kind,
		       const struct vm_persist *what)
{
	struct vm_persist *persist;
	struct vm_req *req;
	int rc = vm_check_pointer(call, request, "request");

	if (rc != 0)
		return rc;
	persist = malloc(sizeof(*persist));
	req = persist ? vm_req_new(kind) : NULL;
	if (!req) {
		free(persist);
		return MPI_ERR_NO_MEM;
	}
	*persist = *what;
	persist->peer = route->peer;
	persist->data = route->data;
	vm_layout_hold(persist->data.layout);
	if (vm_typed()) {
		persist->signature = vm_self->signature;
		persist->type = vm_type_hold(route->type);
		persist->count = route->count;
	}
	if (!route->peer)
		persist->start = start_proc_null;
	req->node.env = route->env;
	req->persistent = true;
	req->active = false;
	req->user = persist;
	req->on_free = persist_free;
	*request = (MPI_Request)req;
	return 0;
}

static int send_init(struct vm_call *call, MPI_Request *request,
		     const struct vm_persist *what, const void *buf,
		     MPI_Count count, MPI_Datatype type, int dest, int tag,
		     MPI_Comm comm)
{
	struct vm_route route;
	int rc = vm_route_send(call, &route, buf, count, type, dest, tag, comm);

	if (rc == 0)
		rc = persist_new(call, request, &route, VM_REQ_SEND, what);
	return rc;
}

int vm_persist_send(struct vm_call *call, MPI_Request *request,
		    enum vm_send_mode mode, const void *buf, MPI_Count count,
		    MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	struct vm_persist what = { .start = start_send, .mode = mode };

	return send_init(call, request, &what, buf, count, type, dest, tag,
			 comm);
}

int vm_persist_bsend(struct vm_call *call, MPI_Request *request,
		     const void *buf, MPI_Count count, MPI_Datatype type,
		     int dest, int tag, MPI_Comm comm)
{
	struct vm_persist what = { .start = start_bsend };

	return send_init(call, request, &what, buf, count, type, dest, tag,
			 comm);
}

int vm_persist_recv(struct vm_call *call, MPI_Request *request, void *buf,
		    MPI_Count count, MPI_Datatype type, int source, int tag,
		    MPI_Comm comm)
{
	struct vm_persist what = { .start = start_recv };
	struct vm_route route;
	int rc = vm_route_recv(call, &route, buf, count, type, source, tag,
			       comm);

	if (rc == 0)
		rc = persist_new(call, request, &route, VM_REQ_RECV, &what);
	return rc;
}

static int start_one(struct vm_call *call, MPI_Request request)
{
	struct vm_req *req = vm_request(request);
	struct vm_persist *persist;
	int rc = vm_check_request(call, req);

	if (rc != 0)
		return rc;
	if (vm_req_is_null(req) || !req->persistent)
		return vm_error(call, MPI_ERR_REQUEST,
				"the request is not persistent");
	if (req->active)
		return vm_error(call, MPI_ERR_REQUEST,
				"the request is active already");
	persist = req->user;
	return persist->start(req, persist);
}

int PMPI_Start(MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Start);
	int rc = vm_check_pointer(&call, request, "request");

	if (rc == 0)
		rc = start_one(&call, *request);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Startall(int count, MPI_Request requests[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Startall);
	int rc = vm_check_requests(&call, count, requests);

	for (int i = 0; i < count && rc == 0; i++)
		rc = start_one(&call, requests[i]);
	return vm_call_exit_self(&call, rc);
}
