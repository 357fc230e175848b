/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion of requests: the wait and test calls, cancel and free.
 */
#include "mpi/p2p/request.h"

#include <limits.h>

#include "core/remote/failure.h"
#include "mpi/call/check.h"
#include "mpi/icoll/start.h"
#include "mpi/call/errh.h"
#include "mpi/p2p/finish.h"
#include "mpi/p2p/grequest.h"
#include "mpi/p2p/typed.h"
#include "mpi/call/status.h"
#include "mpi/comm/comm.h"
#include "mpi/call/persist.h"

int vm_error_truncated(struct vm_call *call, int rc, const vmpi_status *status)
{
	if (rc >= 0)
		return rc;
	if (rc != -VMPI_ETRUNC)
		return vm_error_of_core(call, rc);
	return vm_error(call, vm_mpi_error(rc),
			"rank %d sent %s%zu bytes with tag %d, the receive "
			"buffer has room for %zu",
			status->source,
			status->lost == UINT_MAX ? "at least " : "",
			status->bytes + status->lost, status->tag,
			status->bytes);
}

void vm_request_complete_now(struct vm_req *req, const vmpi_status *status)
{
	req->status = *status;
	req->active = true;
	/* The request is not shared yet. */
	atomic_store_explicit(&req->state, VM_REQ_DONE, memory_order_relaxed);
}

int vm_check_request(struct vm_call *call, const struct vm_req *req)
{
	if (VM_LIKELY(req == &vm_req_done_send ||
		      req == vm_request(MPI_REQUEST_NULL)))
		return 0;
	if (vm_req_is_null(req) || !vm_arena_has(&vm_node->arenas.req, req))
		return vm_error(call, MPI_ERR_REQUEST, "%p is not a request",
				(const void *)req);
	/* A request that has ended is neither.  One that continuations make
	 * active, by any thread, is persistent. */
	if (!req->persistent && !req->active)
		return vm_error(call, MPI_ERR_REQUEST,
				"the request %p was completed or freed before",
				(const void *)req);
	return 0;
}

int vm_check_requests(struct vm_call *call, int count,
		      const MPI_Request *requests)
{
	int rc = vm_check_count(call, count);

	if (rc == 0 && count > 0)
		rc = vm_check_pointer(call, requests, "array_of_requests");
	for (int i = 0; i < count && rc == 0; i++)
		rc = vm_check_request(call, vm_request(requests[i]));
	return rc;
}

/* Returns the communicator whose error handler gets a request's error. */
static MPI_Comm comm_of(struct vm_call *call, const struct vm_env *env)
{
	struct vm_comm *comm = vm_comm_of_context(call->mpi, env->context);

	return comm ? vm_comm_handle(call->mpi, comm) : MPI_COMM_NULL;
}

static __attribute__((noinline)) int stalled(struct vm_call *call)
{
	return vm_error(call, MPIX_ERR_PROC_FAILED_PENDING,
			"a member has failed whose message this may have been; "
			"the receive goes on after MPIX_Comm_ack_failed");
}

void vm_request_await(struct vm_req *req)
{
	vm_req_await(&req, 1, 1);
	if (VM_UNLIKELY(!vm_req_is_done(req)))
		vm_failure_settle(req);
}

int vm_request_finish(struct vm_call *call, MPI_Request *request,
		      MPI_Status *status)
{
	struct vm_req *req = vm_request(*request);
	int rc, typed = 0;
	vmpi_status result;

	if (VM_UNLIKELY(!vm_req_is_done(req)))
		return stalled(call);
	if (!req->persistent) {
		*request = MPI_REQUEST_NULL;
		/* So that vm_check_request() recognises stale handles. */
		if (req != &vm_req_done_send)
			req->active = false;
	}
	if (VM_UNLIKELY(req->kind == VM_REQ_GENERAL))
		return vm_grequest_finish(call, req, status);
	if (VM_UNLIKELY(req->kind == VM_REQ_COLL))
		vm_coll_explain(call, req);
	if (vm_typed())
		typed = vm_typed_compare(call, req);
	rc = vm_req_finish(req, &result);
	vm_status_set(status, &result);
	if (VM_UNLIKELY(typed))
		return typed;
	if (VM_LIKELY(rc == 0 || rc == -VMPI_ECANCELED))
		return MPI_SUCCESS;
	return vm_error_truncated(call, rc, &result);
}

bool vm_request_quick_other(struct vm_ult *self, MPI_Request *request,
			    MPI_Status *status)
{
	struct vm_req *req = vm_request(*request);
	struct core_rank_pvars *pvars = self->counts;

	if (!vm_quick_ended(req))
		return false;
	*request = MPI_REQUEST_NULL;
	vm_status_set(status, &req->status);
	if (req->kind == VM_REQ_RECV && req->rank) {
		vm_pvar_add(pvars->receives, 1);
		vm_pvar_add(pvars->received_bytes, req->status.bytes);
	}
	vm_quick_free(self->worker->cache, req);
	return true;
}

int vm_request_fail(struct vm_call *call, const struct vm_request_of *whose,
		    int rc)
{
	if (whose->fail)
		return whose->fail(call, whose->object, rc);
	return vm_call_exit(call, comm_of(call, &whose->env), rc);
}

int vm_request_finish_one(struct vm_call *call, MPI_Request *request,
			  MPI_Status *status)
{
	struct vm_request_of whose = vm_request_whose(vm_request(*request));
	int rc = vm_request_finish(call, request, status);

	if (VM_LIKELY(rc == MPI_SUCCESS))
		return MPI_SUCCESS;
	return vm_request_fail(call, &whose, rc);
}

int vm_request_peek(struct vm_call *call, struct vm_req *req,
		    MPI_Status *status)
{
	if (vm_request_is_idle(req))
		vm_status_set_empty(status);
	else if (VM_UNLIKELY(!vm_req_is_done(req)))
		return stalled(call);
	else if (req->kind == VM_REQ_GENERAL)
		return vm_grequest_query(req, status);
	else
		vm_status_set(status, &req->status);
	return MPI_SUCCESS;
}

static VM_ENTRY_REST int wait_any(MPI_Request *request, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Wait);
	struct vm_req *req;
	int rc = vm_check_pointer(&call, request, "request");

	if (rc == 0)
		rc = vm_check_request(&call, vm_request(*request));
	if (VM_UNLIKELY(rc != 0))
		return vm_call_exit_self(&call, rc);
	req = vm_request(*request);
	if (vm_request_is_idle(req)) {
		vm_status_set_empty(status);
		return MPI_SUCCESS;
	}
	if (!vm_req_is_done(req))
		vm_req_await(&req, 1, 1);
	if (VM_LIKELY(!vm_typed() && vm_request_took(request, status)))
		return MPI_SUCCESS;
	return vm_request_finish_one(&call, request, status);
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
	if (VM_UNLIKELY(!request || !vm_request_mpi() ||
			!vm_request_took(request, status)))
		return wait_any(request, status);
	return MPI_SUCCESS;
}

/* Tells whether it is ready now; polls once when it is not.  May switch. */
static inline bool ready_after_poll(const struct vm_req *req)
{
	if (vm_req_is_ready(req))
		return true;
	vm_req_poll();
	return vm_req_is_ready(req);
}

static VM_ENTRY_REST int test_any(MPI_Request *request, int *flag,
				  MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Test);
	struct vm_req *req;
	int rc = vm_check_pointer(&call, request, "request");

	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc == 0)
		rc = vm_check_request(&call, vm_request(*request));
	if (VM_UNLIKELY(rc != 0))
		return vm_call_exit_self(&call, rc);
	req = vm_request(*request);
	*flag = 1;
	if (vm_request_is_idle(req)) {
		vm_status_set_empty(status);
		return MPI_SUCCESS;
	}
	*flag = ready_after_poll(req);
	if (!*flag)
		return MPI_SUCCESS;
	*flag = vm_req_is_done(req);
	return vm_request_finish_one(&call, request, status);
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	if (VM_UNLIKELY(!request || !flag || !vm_request_mpi() ||
			!vm_request_took(request, status)))
		return test_any(request, flag, status);
	*flag = 1;
	return MPI_SUCCESS;
}

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Request_get_status);
	struct vm_req *req = vm_request(request);
	int rc = vm_check_pointer(&call, flag, "flag");

	if (rc == 0)
		rc = vm_check_request(&call, req);
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	*flag = vm_request_is_idle(req) || ready_after_poll(req);
	if (*flag)
		rc = vm_request_peek(&call, req, status);
	*flag = *flag && rc == 0;
	return vm_call_exit_self(&call, rc);
}

/* Takes the results of requests that are all complete or idle. */
static int finish_all(struct vm_call *call, int count, MPI_Request *requests,
		      MPI_Status *statuses)
{
	struct vm_request_of first_whose = { 0 };
	int first = MPI_SUCCESS;

	for (int i = 0; i < count; i++) {
		MPI_Status *status = vm_status_at(statuses, i);
		struct vm_req *req = vm_request(requests[i]);
		struct vm_request_of whose;
		int rc;

		if (vm_request_is_idle(req)) {
			vm_status_set_empty(status);
			continue;
		}
		whose = vm_request_whose(req);
		rc = vm_request_finish(call, &requests[i], status);
		vm_status_set_error(status, rc);
		if (rc != MPI_SUCCESS && first == MPI_SUCCESS) {
			first = rc;
			first_whose = whose;
		}
	}
	if (VM_LIKELY(first == MPI_SUCCESS))
		return MPI_SUCCESS;
	return vm_request_fail(call, &first_whose, MPI_ERR_IN_STATUS);
}

/* finish_quickly(), ignore: without statuses. */
static VM_ALWAYS_INLINE int finish_run(int count, MPI_Request *requests,
				       MPI_Status *statuses, bool ignore)
{
	struct vm_request_quick quick = vm_request_quick_begin();
	int i;

	for (i = 0; i < count; i++) {
		MPI_Status *status = ignore ? MPI_STATUS_IGNORE : &statuses[i];

		/* Sends are nothing but a word each. */
		if (ignore && vm_request(requests[i]) == &vm_req_done_send) {
			requests[i] = MPI_REQUEST_NULL;
			continue;
		}
		if (VM_UNLIKELY(
			    !vm_request_quick(&quick, &requests[i], status)))
			break;
		vm_status_set_error(status, MPI_SUCCESS);
	}
	if (i > 0)
		vm_request_quick_end(&quick);
	return i;
}

/*
 * Takes the results of the first requests, up to one that is not complete or
 * not of the usual kind; returns its number.
 */
static VM_ALWAYS_INLINE int finish_quickly(int count, MPI_Request *requests,
					   MPI_Status *statuses)
{
	if (statuses == MPI_STATUSES_IGNORE)
		return finish_run(count, requests, NULL, true);
	return finish_run(count, requests, statuses, false);
}

/* Waits for those that finish_quickly() has left. */
static VM_ENTRY_REST int wait_rest(int count, MPI_Request *requests,
				   MPI_Status *statuses)
{
	struct vm_call call = vm_call_enter(VM_CALL_Waitall);
	int rc = vm_check_requests(&call, count, requests);
	int i = 0;

	if (VM_UNLIKELY(rc != 0))
		return vm_call_exit_self(&call, rc);
	vm_req_await((struct vm_req *const *)requests, count, count);
	if (VM_LIKELY(!vm_typed()))
		i = finish_quickly(count, requests, statuses);
	if (statuses != MPI_STATUSES_IGNORE)
		statuses += i;
	return finish_all(&call, count - i, requests + i, statuses);
}

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
	if (VM_UNLIKELY(count <= 0 || !requests || !vm_request_mpi()))
		return wait_rest(count, requests, statuses);
	vm_self->sends_in_row = 0;
	for (;;) {
		int done = finish_quickly(count, requests, statuses);

		if (VM_LIKELY(done == count))
			return MPI_SUCCESS;
		count -= done;
		requests += done;
		if (statuses != MPI_STATUSES_IGNORE)
			statuses += done;
		/* Operations often complete in their order: then this waits
		 * once. */
		if (vm_request_look(requests[count - 1]) != VM_REQUEST_PENDING)
			return wait_rest(count, requests, statuses);
		vm_wait_in(vm_self, VM_CALL_MPI_FIRST + VM_CALL_Waitall);
		vm_req_await((struct vm_req **)&requests[count - 1], 1, 1);
	}
}

static bool all_ready(int count, const MPI_Request *requests)
{
	for (int i = 0; i < count; i++) {
		const struct vm_req *req = vm_request(requests[i]);

		if (!vm_request_is_idle(req) && !vm_req_is_ready(req))
			return false;
	}
	return true;
}

static VM_ENTRY_REST int test_rest(int count, MPI_Request *requests, int *flag,
				   MPI_Status *statuses)
{
	struct vm_call call = vm_call_enter(VM_CALL_Testall);
	int rc = vm_check_requests(&call, count, requests);

	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (VM_UNLIKELY(rc != 0))
		return vm_call_exit_self(&call, rc);
	*flag = all_ready(count, requests);
	if (!*flag) {
		vm_req_poll();
		*flag = all_ready(count, requests);
	}
	if (!*flag)
		return MPI_SUCCESS;
	return finish_all(&call, count, requests, statuses);
}

/* The first look that says that not all are complete: PENDING or ODD; else
 * DONE. */
static VM_ALWAYS_INLINE enum vm_request_look
all_look(int count, const MPI_Request *requests)
{
	for (int i = 0; i < count; i++) {
		enum vm_request_look look = vm_request_look(requests[i]);

		if (look == VM_REQUEST_PENDING || look == VM_REQUEST_ODD)
			return look;
	}
	return VM_REQUEST_DONE;
}

int PMPI_Testall(int count, MPI_Request requests[], int *flag,
		 MPI_Status statuses[])
{
	enum vm_request_look look;
	int i;

	if (VM_UNLIKELY(count <= 0 || !requests || !flag || !vm_request_mpi()))
		return test_rest(count, requests, flag, statuses);
	look = all_look(count, requests);
	if (look == VM_REQUEST_PENDING) {
		vm_req_poll();
		look = all_look(count, requests);
	}
	*flag = look == VM_REQUEST_DONE;
	if (look == VM_REQUEST_PENDING)
		return MPI_SUCCESS;
	if (VM_UNLIKELY(look == VM_REQUEST_ODD))
		return test_rest(count, requests, flag, statuses);
	i = finish_quickly(count, requests, statuses);
	if (VM_LIKELY(i == count))
		return MPI_SUCCESS;
	if (statuses != MPI_STATUSES_IGNORE)
		statuses += i;
	return test_rest(count - i, requests + i, flag, statuses);
}

int PMPI_Request_get_status_all(int count, const MPI_Request requests[],
				int *flag, MPI_Status statuses[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Request_get_status_all);
	int rc = vm_check_requests(&call, count, requests);

	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	*flag = all_ready(count, requests);
	if (!*flag) {
		vm_req_poll();
		*flag = all_ready(count, requests);
	}
	for (int i = 0; rc == 0 && *flag && i < count; i++)
		rc = vm_request_peek(&call, vm_request(requests[i]),
				     vm_status_at(statuses, i));
	*flag = *flag && rc == 0;
	return vm_call_exit_self(&call, rc);
}
