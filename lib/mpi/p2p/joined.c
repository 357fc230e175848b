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
#include "mpi/call/persist.h"
#include "mpi/call/status.h"

struct vm_joined *vm_joined_new(uint32_t context, int room)
{
	struct vm_joined *joined = malloc(
		sizeof(*joined) + (size_t)room * sizeof(joined->parts[0]));
	/* Of no rank, so that it cannot be cancelled and is not counted. */
	struct vm_req *req = joined ? vm_req_new(VM_REQ_RECV) : NULL;

	if (!req) {
		free(joined);
		return NULL;
	}
	req->node.env = (struct vm_env){ .context = context };
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
	if (joined->over)
		joined->over(joined->memory);
	else
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

/* A persistent operation with something around it. */
struct persist_around {
	struct vm_persist persist; /* first: what MPI_Start looks at */
	struct vm_req *inner;	   /* the operation */
	struct vm_around around;
};

static int start_around(struct vm_req *req, struct vm_persist *persist)
{
	struct persist_around *kept = (struct persist_around *)persist;
	struct vm_persist *inner = kept->inner->user;
	struct vm_joined *joined = vm_joined_new(req->node.env.context, 1);
	int rc;

	if (!joined)
		return MPI_ERR_NO_MEM;
	kept->around.begin(kept->around.data);
	rc = inner->start(kept->inner, inner);
	if (rc != 0) {
		vm_joined_give_up(joined);
		return rc;
	}
	vm_joined_add(joined, kept->inner);
	joined->memory = kept->around.data;
	joined->over = kept->around.end;
	vm_joined_restart(joined, req);
	return 0;
}

static void around_free(struct vm_req *req)
{
	struct persist_around *kept = req->user;

	vm_req_detach(kept->inner);
	kept->around.free(kept->around.data);
	free(kept);
}

static int persist_around(MPI_Request *request, const struct vm_around *around)
{
	struct vm_req *inner = vm_request(*request), *req;
	struct persist_around *kept = calloc(1, sizeof(*kept));

	/* Of no rank: see vm_joined_new(). */
	req = kept ? vm_req_new(VM_REQ_RECV) : NULL;
	if (!req) {
		free(kept);
		return MPI_ERR_NO_MEM;
	}
	kept->persist.start = start_around;
	kept->inner = inner;
	kept->around = *around;
	req->node.env = (struct vm_env){ .context = inner->node.env.context };
	req->data = (struct vm_data){ 0 };
	req->persistent = true;
	req->active = false;
	req->user = kept;
	req->on_free = around_free;
	*request = (MPI_Request)req;
	return 0;
}

/* Ends what is around one operation. */
static void around_over(void *memory)
{
	struct vm_around *around = memory;

	around->end(around->data);
	around->free(around->data);
	free(around);
}

int vm_joined_around(MPI_Request *request, const struct vm_around *around)
{
	struct vm_req *inner = vm_request(*request);
	struct vm_around *copy;
	struct vm_joined *joined;

	if (inner->persistent)
		return persist_around(request, around);
	copy = malloc(sizeof(*copy));
	joined = copy ? vm_joined_new(inner->node.env.context, 1) : NULL;
	if (!joined) {
		/* The operation has begun: this waits for it. */
		free(copy);
		vm_request_await(inner);
		around->end(around->data);
		around->free(around->data);
		return 0;
	}
	*copy = *around;
	vm_joined_add(joined, inner);
	joined->memory = copy;
	joined->over = around_over;
	vm_joined_start(joined, request);
	return 0;
}
