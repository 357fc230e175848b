/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Continuations (MPIX_Continue(3)): functions that run when operations have
 * completed.
 *
 * A task of the rank waits for the operations and calls the function, which so
 * may call everything.  The continuation request counts those that have not
 * run; it is persistent, and its start is the first continuation.
 */
#include <stdlib.h>

#include "core/local/req.h"
#include "core/local/task.h"
#include "mpi/call/check.h"
#include "mpi/call/info.h"
#include "mpi/call/persist.h"
#include "mpi/call/status.h"
#include "mpi/p2p/request.h"

/* A continuation request. */
struct conts {
	struct vm_persist persist; /* first: what MPI_Start looks at */
	struct vm_req *req;
	_Atomic size_t refs; /* of the continuations, and of the request */
	struct vm_lock lock; /* guards the rest, and that req completes */
	size_t missing;	     /* continuations that have not run */
	int error;	     /* the first */
};

struct cont {
	struct conts *conts;
	MPIX_Continue_cb_function *function;
	void *data;
	MPI_Status *statuses; /* or MPI_STATUSES_IGNORE */
	bool one;
	int count;
	MPI_Request requests[];
};

static void conts_drop(struct conts *conts)
{
	/* Acquire-release: what others wrote before is visible. */
	if (atomic_fetch_sub_explicit(&conts->refs, 1, memory_order_acq_rel) ==
	    1)
		free(conts);
}

static void request_freed(struct vm_req *req)
{
	conts_drop(req->user);
}

/* Makes the request active, if it is not; the lock is held. */
static void begin(struct conts *conts)
{
	struct vm_req *req = conts->req;

	if (!req->active) {
		conts->error = 0;
		req->status = vm_status_empty;
		req->active = true;
	}
	/* Nobody waits for a request that is complete. */
	if (vm_req_is_done(req) && conts->missing)
		atomic_store_explicit(&req->state, VM_REQ_PENDING,
				      memory_order_relaxed);
}

static int conts_start(struct vm_req *req, struct vm_persist *persist)
{
	struct conts *conts = (struct conts *)persist;

	vm_lock_take(&conts->lock);
	begin(conts);
	vm_lock_give(&conts->lock);
	return 0;
}

/* A continuation has run. */
static void conts_count(struct conts *conts, int error)
{
	vm_lock_take(&conts->lock);
	if (error && !conts->error)
		conts->error = error;
	if (--conts->missing == 0) {
		conts->req->status.error = conts->error;
		vm_req_complete(conts->req);
	}
	vm_lock_give(&conts->lock);
	conts_drop(conts);
}

/* Takes the results of complete operations. */
static int results_take(struct cont *cont)
{
	struct vm_call call = vm_call_enter(VM_CALL_Waitall);
	int first = MPI_SUCCESS;

	for (int i = 0; i < cont->count; i++) {
		MPI_Status *status = cont->statuses == MPI_STATUSES_IGNORE ?
					     MPI_STATUS_IGNORE :
					     &cont->statuses[i];
		int rc = MPI_SUCCESS;

		if (vm_request_is_idle(vm_request(cont->requests[i])))
			vm_status_set_empty(status);
		else
			rc = vm_request_finish(&call, &cont->requests[i],
					       status);
		if (status != MPI_STATUS_IGNORE && !cont->one)
			status->MPI_ERROR = rc;
		if (rc != MPI_SUCCESS && first == MPI_SUCCESS)
			first = cont->one ? rc : MPI_ERR_IN_STATUS;
	}
	free(call.what);
	return first;
}

/* Runs it; the operations are complete. */
static void cont_run(struct cont *cont)
{
	struct conts *conts = cont->conts;
	int rc = cont->function(results_take(cont), cont->data);

	free(cont);
	conts_count(conts, rc);
}

static int cont_main(void *arg)
{
	struct cont *cont = arg;

	for (int i = cont->count; i-- > 0;)
		if (!vm_request_is_idle(vm_request(cont->requests[i])))
			vm_request_await(vm_request(cont->requests[i]));
	cont_run(cont);
	return 0;
}

static bool all_done(const struct cont *cont)
{
	for (int i = 0; i < cont->count; i++) {
		const struct vm_req *req = vm_request(cont->requests[i]);

		if (!vm_request_is_idle(req) && !vm_req_is_done(req))
			return false;
	}
	return true;
}

/* Without a task the caller waits itself. */
static void cont_start(struct cont *cont, int flags)
{
	struct vm_ult *task;

	if ((flags & MPIX_CONT_IMMEDIATE) && all_done(cont))
		cont_run(cont);
	else if (vm_task_new_user(&task, cont_main, cont) == 0)
		vm_ult_detach(task);
	else
		cont_main(cont);
}

/* Takes over the operations: their handles are the continuation's now. */
static struct cont *cont_new(struct conts *conts, int count,
			     MPI_Request *requests)
{
	struct cont *cont =
		malloc(sizeof(*cont) + (size_t)count * sizeof(requests[0]));

	if (!cont)
		return NULL;
	*cont = (struct cont){ .conts = conts, .count = count };
	for (int i = 0; i < count; i++) {
		cont->requests[i] = requests[i];
		if (!vm_req_is_null(vm_request(requests[i])) &&
		    !vm_request(requests[i])->persistent)
			requests[i] = MPI_REQUEST_NULL;
	}
	atomic_fetch_add_explicit(&conts->refs, 1, memory_order_relaxed);
	vm_lock_take(&conts->lock);
	conts->missing++;
	begin(conts);
	vm_lock_give(&conts->lock);
	return cont;
}

static int check(struct vm_call *call, int count, const MPI_Request *requests,
		 MPIX_Continue_cb_function *function, int flags,
		 MPI_Request cont_request)
{
	struct vm_req *req = vm_request(cont_request);
	const struct vm_persist *persist;
	int rc = vm_check_requests(call, count, requests);

	if (rc == 0)
		rc = vm_check_pointer(call, (void *)(uintptr_t)function, "cb");
	if (rc == 0 && (flags & ~MPIX_CONT_IMMEDIATE))
		rc = vm_error(call, MPI_ERR_ARG, "flags %#x are unknown",
			      (unsigned)flags);
	if (rc == 0)
		rc = vm_check_request(call, req);
	if (rc != 0)
		return rc;
	persist = vm_req_is_null(req) || !req->persistent ? NULL : req->user;
	if (!persist || persist->start != conts_start)
		return vm_error(call, MPI_ERR_REQUEST,
				"cont_req was not made by MPIX_Continue_init");
	for (int i = 0; i < count; i++)
		if (requests[i] == cont_request)
			return vm_error(call, MPI_ERR_REQUEST,
					"a continuation request cannot "
					"continue with itself");
	return 0;
}

static int add(int count, MPI_Request *requests, bool one,
	       MPIX_Continue_cb_function *function, void *data, int flags,
	       MPI_Status *statuses, MPI_Request cont_request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Waitall);
	struct cont *cont;
	int rc = check(&call, count, requests, function, flags, cont_request);

	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	cont = cont_new(vm_request(cont_request)->user, count, requests);
	if (!cont)
		return vm_call_exit_self(&call, MPI_ERR_NO_MEM);
	cont->one = one;
	cont->function = function;
	cont->data = data;
	cont->statuses = statuses;
	cont_start(cont, flags);
	return MPI_SUCCESS;
}

int PMPIX_Continue(MPI_Request *op_request, MPIX_Continue_cb_function *cb,
		   void *cb_data, int flags, MPI_Status *status,
		   MPI_Request cont_req)
{
	return add(1, op_request, true, cb, cb_data, flags, status, cont_req);
}

int PMPIX_Continueall(int count, MPI_Request op_requests[],
		      MPIX_Continue_cb_function *cb, void *cb_data, int flags,
		      MPI_Status statuses[], MPI_Request cont_req)
{
	return add(count, op_requests, false, cb, cb_data, flags, statuses,
		   cont_req);
}

static int init(struct vm_call *call, int flags, MPI_Info info,
		MPI_Request *cont_req)
{
	struct conts *conts;
	struct vm_req *req;
	int rc = vm_check_hints(call, info);

	if (rc == 0 && flags)
		rc = vm_error(call, MPI_ERR_ARG, "flags %#x are unknown",
			      (unsigned)flags);
	if (rc == 0)
		rc = vm_check_pointer(call, cont_req, "cont_req");
	if (rc != 0)
		return rc;
	conts = calloc(1, sizeof(*conts));
	req = conts ? vm_req_new_done(VM_REQ_SEND, &vm_status_empty) : NULL;
	if (!req) {
		free(conts);
		return MPI_ERR_NO_MEM;
	}
	vm_lock_init(&conts->lock);
	conts->persist.start = conts_start;
	conts->req = req;
	atomic_init(&conts->refs, 1);
	req->node.env = (struct vm_env){ 0 };
	req->data = (struct vm_data){ 0 };
	req->persistent = true;
	req->active = false;
	req->user = conts;
	req->on_free = request_freed;
	*cont_req = (MPI_Request)req;
	return 0;
}

/* How many run in a call that tests makes no difference: tasks run them. */
int PMPIX_Continue_init(int flags, int max_poll, MPI_Info info,
			MPI_Request *cont_req)
{
	struct vm_call call = vm_call_enter(VM_CALL_Waitall);

	(void)max_poll;
	return vm_call_exit_self(&call, init(&call, flags, info, cont_req));
}

MPIX_WEAK_ALIAS(Continue_init)
MPIX_WEAK_ALIAS(Continue)
MPIX_WEAK_ALIAS(Continueall)
