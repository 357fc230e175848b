/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joined operations.
 */
#include "mpi/p2p/joined.h"

#include <stdlib.h>

#include "core/rank/state.h"
#include "core/local/task.h"
#include "core/comm/cancel.h"
#include "mpi/p2p/request.h"
#include "mpi/p2p/typed.h"
#include "mpi/call/status.h"

struct vm_joined *vm_joined_new(const struct vm_comm *comm, int room)
{
	struct vm_joined *joined = malloc(
		sizeof(*joined) + (size_t)room * sizeof(joined->parts[0]));
	/* Of no rank, so that it cannot be cancelled and is not counted. */
	struct vm_req *req = joined ? vm_req_new(VM_REQ_RECV) : NULL;

	if (!req) {
		free(joined);
		return NULL;
	}
	req->node.env = (struct vm_env){ .context = comm->context };
	req->data = (struct vm_data){ 0 };
	*joined = (struct vm_joined){ .req = req, .receive = -1 };
	return joined;
}

/* Completes the joint request; all parts are complete. */
static void joined_finish(struct vm_joined *joined)
{
	struct vm_req *req = joined->req;
	vmpi_status status = vm_status_empty;
	int error = 0;

	for (int i = 0; i < joined->count; i++) {
		size_t bytes = joined->parts[i]->data.bytes;
		int rc, typed = 0;
		vmpi_status one;

		if (vm_typed())
			typed = vm_typed_compare(NULL, joined->parts[i]);
		rc = vm_req_finish(joined->parts[i], &one);
		if (rc == 0)
			rc = typed;
		if (i == joined->receive)
			status = one;
		if (rc && !error) {
			error = rc;
			req->data.bytes = bytes;
		}
	}
	req->status = status;
	req->status.error = error;
	free(joined->memory);
	free(joined);
	vm_req_complete(req);
}

static int joined_main(void *arg)
{
	struct vm_joined *joined = arg;

	for (int i = joined->count; i-- > 0;)
		vm_request_await(joined->parts[i]);
	joined_finish(joined);
	return 0;
}

void vm_joined_start(struct vm_joined *joined, MPI_Request *request)
{
	struct vm_ult *task;
	bool done = true;

	*request = (MPI_Request)joined->req;
	for (int i = 0; i < joined->count; i++)
		done = done && vm_req_is_done(joined->parts[i]);
	if (done)
		joined_finish(joined);
	else if (vm_task_new(&task, joined_main, joined) == 0)
		vm_ult_detach(task);
	else
		/* Without a task this call waits itself. */
		joined_main(joined);
}

void vm_joined_restart(struct vm_joined *joined, struct vm_req *req)
{
	MPI_Request request;
	struct vm_req *own = joined->req;

	/* Its own request is not needed. */
	vm_req_complete(own);
	vm_req_finish(own, NULL);
	/* The persistent request is not active, so nobody else uses it. */
	atomic_store_explicit(&req->state, VM_REQ_PENDING,
			      memory_order_relaxed);
	req->active = true;
	joined->req = req;
	vm_joined_start(joined, &request);
}

int vm_joined_wait(struct vm_joined *joined)
{
	struct vm_req *req = joined->req;

	joined_main(joined);
	return vm_req_finish(req, NULL);
}

void vm_joined_give_up(struct vm_joined *joined)
{
	struct vm_req *req = joined->req;

	for (int i = 0; i < joined->count; i++)
		if (joined->parts[i]->kind == VM_REQ_RECV)
			vm_req_cancel(joined->parts[i]);
	joined_main(joined);
	vm_req_finish(req, NULL);
}
