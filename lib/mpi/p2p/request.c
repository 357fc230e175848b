/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion of requests: the wait and test calls, cancel and free.
 */
#include "mpi/p2p/request.h"

#include "core/comm/quick.h"
#include "mpi/call/check.h"
#include "mpi/coll/coll.h"
#include "mpi/call/errh.h"
#include "mpi/p2p/grequest.h"
#include "mpi/p2p/typed.h"
#include "mpi/call/status.h"
#include "mpi/comm/comm.h"
#include "mpi/call/persist.h"

int vm_error_truncated(struct vm_call *call, int rc, size_t bytes)
{
	if (rc >= 0)
		return rc;
	if (rc != -VMPI_ETRUNC)
		return vm_error_of_core(call, rc);
	return vm_error(call, vm_mpi_error(rc),
			"the message is longer than the receive buffer of %zu "
			"bytes",
			bytes);
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
	/* A request that has ended is neither. */
	if (!req->active && !req->persistent)
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

int vm_request_finish(struct vm_call *call, MPI_Request *request,
		      MPI_Status *status)
{
	struct vm_req *req = vm_request(*request);
	size_t bytes = req->data.bytes;
	int rc, typed = 0;
	vmpi_status result;

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
	return vm_error_truncated(call, rc, bytes);
}

/* Whose error handler gets a request's error. */
struct error_of {
	struct vm_env env;
	int (*fail)(struct vm_call *call, void *object, int rc); /* or NULL */
	void *object;
};

static inline struct error_of whose_of(const struct vm_req *req)
{
	struct error_of whose = { .env = req->node.env };

	if (VM_UNLIKELY(req->kind == VM_REQ_GENERAL)) {
		whose.fail = vm_grequest_of(req)->fail;
		whose.object = vm_grequest_of(req)->object;
	}
	return whose;
}

static int fail(struct vm_call *call, const struct error_of *whose, int rc)
{
	if (whose->fail)
		return whose->fail(call, whose->object, rc);
	return vm_call_exit(call, comm_of(call, &whose->env), rc);
}

/* Completes one request and returns through the right error handler. */
static int finish_one(struct vm_call *call, MPI_Request *request,
		      MPI_Status *status)
{
	struct error_of whose = whose_of(vm_request(*request));
	int rc = vm_request_finish(call, request, status);

	if (VM_LIKELY(rc == MPI_SUCCESS))
		return MPI_SUCCESS;
	return fail(call, &whose, rc);
}

/* finish() of a complete request of the usual kind, without an error; false: it
 * is another one.  *counts: as vm_quick_finish(). */
static VM_ALWAYS_INLINE bool finish_quick(struct vm_thread_cache *cache,
					  MPI_Request *request,
					  MPI_Status *status,
					  struct vm_quick_counts *counts)
{
	struct vm_req *req = vm_request(*request);

	if (req != &vm_req_done_send &&
	    VM_UNLIKELY(!vm_arena_has(&vm_node->arenas.req, req) ||
			!vm_quick_finish(cache, req, counts)))
		return false;
	*request = MPI_REQUEST_NULL;
	vm_status_set(status, &req->status);
	return true;
}

static VM_ALWAYS_INLINE void finish_count(struct vm_ult *self,
					  const struct vm_quick_counts *counts)
{
	struct core_rank_pvars *pvars = self->counts;

	vm_worker_got(self->worker);
	vm_pvar_add(pvars->receives, counts->receives);
	vm_pvar_add(pvars->received_bytes, counts->bytes);
}

/* The state of MPI of the caller, where calls may be quick; else NULL. */
static inline const struct vm_mpi *quick_mpi(void)
{
	const struct vm_mpi *mpi = vm_mpi_self();

	if (VM_UNLIKELY(!mpi || mpi->phase != VM_MPI_RUNNING || vm_typed()))
		return NULL;
	return mpi;
}

static __attribute__((noinline)) int wait_any(MPI_Request *request,
					      MPI_Status *status)
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
	return finish_one(&call, request, status);
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
	struct vm_quick_counts counts = { 0, 0 };
	struct vm_ult *self = vm_self;

	if (VM_UNLIKELY(!request || !quick_mpi() ||
			!finish_quick(self->worker->cache, request, status,
				      &counts)))
		return wait_any(request, status);
	finish_count(self, &counts);
	return MPI_SUCCESS;
}

/* Tells whether it is complete now; polls once when it is not.  May switch. */
static inline bool done_after_poll(const struct vm_req *req)
{
	if (vm_req_is_done(req))
		return true;
	vm_req_poll();
	return vm_req_is_done(req);
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
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
	if (!done_after_poll(req)) {
		*flag = 0;
		return MPI_SUCCESS;
	}
	return finish_one(&call, request, status);
}

/* Fills the status of a request that is idle or complete, which stays. */
static int peek(struct vm_req *req, MPI_Status *status)
{
	if (vm_request_is_idle(req))
		vm_status_set_empty(status);
	else if (req->kind == VM_REQ_GENERAL)
		return vm_grequest_query(req, status);
	else
		vm_status_set(status, &req->status);
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
	*flag = vm_request_is_idle(req) || done_after_poll(req);
	if (*flag)
		rc = peek(req, status);
	return vm_call_exit_self(&call, rc);
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
	return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE :
						 &statuses[i];
}

static void set_error(MPI_Status *status, int error)
{
	if (status != MPI_STATUS_IGNORE)
		status->MPI_ERROR = error;
}

/* Takes the results of requests that are all complete or idle. */
static int finish_all(struct vm_call *call, int count, MPI_Request *requests,
		      MPI_Status *statuses)
{
	struct error_of first_whose = { 0 };
	int first = MPI_SUCCESS;

	for (int i = 0; i < count; i++) {
		MPI_Status *status = status_at(statuses, i);
		struct vm_req *req = vm_request(requests[i]);
		struct error_of whose;
		int rc;

		if (vm_request_is_idle(req)) {
			vm_status_set_empty(status);
			continue;
		}
		whose = whose_of(req);
		rc = vm_request_finish(call, &requests[i], status);
		set_error(status, rc);
		if (rc != MPI_SUCCESS && first == MPI_SUCCESS) {
			first = rc;
			first_whose = whose;
		}
	}
	if (VM_LIKELY(first == MPI_SUCCESS))
		return MPI_SUCCESS;
	return fail(call, &first_whose, MPI_ERR_IN_STATUS);
}

/*
 * Takes the results of the first requests, up to one that is not complete or
 * not of the usual kind; returns its number.
 */
static VM_ALWAYS_INLINE int finish_quickly(int count, MPI_Request *requests,
					   MPI_Status *statuses)
{
	struct vm_ult *self = vm_self;
	struct vm_thread_cache *cache = self->worker->cache;
	struct vm_quick_counts counts = { 0, 0 };
	int i;

	for (i = 0; i < count; i++) {
		MPI_Status *status = status_at(statuses, i);

		if (!finish_quick(cache, &requests[i], status, &counts))
			break;
		set_error(status, MPI_SUCCESS);
	}
	if (i > 0)
		finish_count(self, &counts);
	return i;
}

/* Waits for those that finish_quickly() has left. */
static __attribute__((noinline)) int wait_rest(int count, MPI_Request *requests,
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
	int i;

	if (VM_UNLIKELY(count <= 0 || !requests || !quick_mpi()))
		return wait_rest(count, requests, statuses);
	vm_self->sends_in_row = 0;
	i = finish_quickly(count, requests, statuses);
	if (VM_LIKELY(i == count))
		return MPI_SUCCESS;
	if (statuses != MPI_STATUSES_IGNORE)
		statuses += i;
	return wait_rest(count - i, requests + i, statuses);
}

static bool all_done(int count, const MPI_Request *requests)
{
	for (int i = 0; i < count; i++) {
		const struct vm_req *req = vm_request(requests[i]);

		if (!vm_request_is_idle(req) && !vm_req_is_done(req))
			return false;
	}
	return true;
}

int PMPI_Testall(int count, MPI_Request requests[], int *flag,
		 MPI_Status statuses[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Testall);
	int rc = vm_check_requests(&call, count, requests);

	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (VM_UNLIKELY(rc != 0))
		return vm_call_exit_self(&call, rc);
	*flag = all_done(count, requests);
	if (!*flag) {
		vm_req_poll();
		*flag = all_done(count, requests);
	}
	if (!*flag)
		return MPI_SUCCESS;
	return finish_all(&call, count, requests, statuses);
}

/*
 * Returns the first complete request from start on, wrapping round; -1: none
 * yet; MPI_UNDEFINED: all are idle.
 */
static int find_done(int start, int count, const MPI_Request *requests)
{
	bool active = false;

	for (int n = 0, i = start; n < count; n++, i++) {
		const struct vm_req *req;

		if (i == count)
			i = 0;
		req = vm_request(requests[i]);
		if (vm_request_is_idle(req))
			continue;
		if (vm_req_is_done(req))
			return i;
		active = true;
	}
	return active ? -1 : MPI_UNDEFINED;
}

/*
 * Returns the index at which Waitany or Testany begins: the first, as programs
 * expect; but the one after that returned last when the call is repeated with
 * the same array and that one's request is still there.  So none starves, and a
 * ring of receives, each reposted when it completes, completes in message
 * order.  MPI does not guarantee that, but programs that take a rank's "done"
 * for its last message rely on it.
 */
static int any_start(const struct vm_mpi *mpi, int count,
		     const MPI_Request *requests)
{
	int next = atomic_load_explicit(&mpi->any_next, memory_order_relaxed);
	uintptr_t array =
		atomic_load_explicit(&mpi->any_array, memory_order_relaxed);
	uintptr_t request =
		atomic_load_explicit(&mpi->any_request, memory_order_relaxed);

	if (array != (uintptr_t)requests || next >= count ||
	    request != (uintptr_t)requests[next] ||
	    request == (uintptr_t)&vm_req_done_send)
		return 0;
	return next;
}

/* Remembers for any_start() that request i is taken. */
static void any_taken(struct vm_mpi *mpi, int i, int count,
		      const MPI_Request *requests)
{
	int next = i + 1 < count ? i + 1 : 0;

	atomic_store_explicit(&mpi->any_array, (uintptr_t)requests,
			      memory_order_relaxed);
	atomic_store_explicit(&mpi->any_request, (uintptr_t)requests[next],
			      memory_order_relaxed);
	atomic_store_explicit(&mpi->any_next, next, memory_order_relaxed);
}

/* Finds a request for Waitany or Testany. */
static int find_any(struct vm_call *call, int count,
		    const MPI_Request *requests)
{
	return find_done(any_start(call->mpi, count, requests), count,
			 requests);
}

/* Ends Waitany and Testany: i is the result of find_any(), not -1. */
static int finish_any(struct vm_call *call, int i, int count,
		      MPI_Request *requests, int *index, MPI_Status *status)
{
	*index = i;
	if (i == MPI_UNDEFINED) {
		vm_status_set_empty(status);
		return MPI_SUCCESS;
	}
	any_taken(call->mpi, i, count, requests);
	return finish_one(call, &requests[i], status);
}

int PMPI_Waitany(int count, MPI_Request requests[], int *index,
		 MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Waitany);
	int i, rc = vm_check_requests(&call, count, requests);

	if (rc == 0)
		rc = vm_check_pointer(&call, index, "index");
	if (VM_UNLIKELY(rc != 0))
		return vm_call_exit_self(&call, rc);
	while ((i = find_any(&call, count, requests)) == -1)
		vm_req_await((struct vm_req *const *)requests, count, 1);
	return finish_any(&call, i, count, requests, index, status);
}

int PMPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
		 MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Testany);
	int i, rc = vm_check_requests(&call, count, requests);

	if (rc == 0)
		rc = vm_check_pointer(&call, index, "index");
	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (VM_UNLIKELY(rc != 0))
		return vm_call_exit_self(&call, rc);
	i = find_any(&call, count, requests);
	if (i == -1) {
		vm_req_poll();
		i = find_any(&call, count, requests);
	}
	*flag = i != -1;
	if (!*flag) {
		*index = MPI_UNDEFINED;
		return MPI_SUCCESS;
	}
	return finish_any(&call, i, count, requests, index, status);
}

/* Ends Waitsome and Testsome: completes all requests that are done. */
static int finish_some(struct vm_call *call, int count, MPI_Request *requests,
		       int *outcount, int *indices, MPI_Status *statuses)
{
	struct error_of first_whose = { 0 };
	int first = MPI_SUCCESS, n = 0;

	for (int i = 0; i < count; i++) {
		struct vm_req *req = vm_request(requests[i]);
		MPI_Status *status;
		struct error_of whose;
		int rc;

		if (vm_request_is_idle(req) || !vm_req_is_done(req))
			continue;
		whose = whose_of(req);
		status = status_at(statuses, n);
		rc = vm_request_finish(call, &requests[i], status);
		set_error(status, rc);
		indices[n++] = i;
		if (rc != MPI_SUCCESS && first == MPI_SUCCESS) {
			first = rc;
			first_whose = whose;
		}
	}
	*outcount = n;
	if (VM_LIKELY(first == MPI_SUCCESS))
		return MPI_SUCCESS;
	return fail(call, &first_whose, MPI_ERR_IN_STATUS);
}

static int check_some(struct vm_call *call, int count,
		      const MPI_Request *requests, const int *outcount,
		      const int *indices)
{
	int rc = vm_check_requests(call, count, requests);

	if (rc == 0)
		rc = vm_check_pointer(call, outcount, "outcount");
	if (rc == 0 && count > 0)
		rc = vm_check_pointer(call, indices, "array_of_indices");
	return rc;
}

int PMPI_Waitsome(int incount, MPI_Request requests[], int *outcount,
		  int indices[], MPI_Status statuses[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Waitsome);
	int i, rc = check_some(&call, incount, requests, outcount, indices);

	if (VM_UNLIKELY(rc != 0))
		return vm_call_exit_self(&call, rc);
	while ((i = find_done(0, incount, requests)) == -1)
		vm_req_await((struct vm_req *const *)requests, incount, 1);
	*outcount = MPI_UNDEFINED;
	if (i == MPI_UNDEFINED)
		return MPI_SUCCESS;
	return finish_some(&call, incount, requests, outcount, indices,
			   statuses);
}

int PMPI_Testsome(int incount, MPI_Request requests[], int *outcount,
		  int indices[], MPI_Status statuses[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Testsome);
	int i, rc = check_some(&call, incount, requests, outcount, indices);

	if (VM_UNLIKELY(rc != 0))
		return vm_call_exit_self(&call, rc);
	i = find_done(0, incount, requests);
	if (i == -1)
		vm_req_poll();
	*outcount = MPI_UNDEFINED;
	if (i == MPI_UNDEFINED)
		return MPI_SUCCESS;
	return finish_some(&call, incount, requests, outcount, indices,
			   statuses);
}

int PMPI_Request_get_status_any(int count, const MPI_Request requests[],
				int *index, int *flag, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Request_get_status_any);
	int i, rc = vm_check_requests(&call, count, requests);

	if (rc == 0)
		rc = vm_check_pointer(&call, index, "index");
	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	i = find_done(0, count, requests);
	if (i == -1) {
		vm_req_poll();
		i = find_done(0, count, requests);
	}
	*flag = i != -1;
	*index = *flag ? i : MPI_UNDEFINED;
	if (i == MPI_UNDEFINED)
		vm_status_set_empty(status);
	else if (*flag)
		rc = peek(vm_request(requests[i]), status);
	return vm_call_exit_self(&call, rc);
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
	*flag = all_done(count, requests);
	if (!*flag) {
		vm_req_poll();
		*flag = all_done(count, requests);
	}
	for (int i = 0; rc == 0 && *flag && i < count; i++)
		rc = peek(vm_request(requests[i]), status_at(statuses, i));
	return vm_call_exit_self(&call, rc);
}

int PMPI_Request_get_status_some(int incount, const MPI_Request requests[],
				 int *outcount, int indices[],
				 MPI_Status statuses[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Request_get_status_some);
	int n = 0, rc = check_some(&call, incount, requests, outcount, indices);
	int found;

	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	found = find_done(0, incount, requests);
	if (found == -1)
		vm_req_poll();
	*outcount = MPI_UNDEFINED;
	if (found == MPI_UNDEFINED)
		return MPI_SUCCESS;
	for (int i = 0; rc == 0 && i < incount; i++) {
		struct vm_req *req = vm_request(requests[i]);

		if (vm_request_is_idle(req) || !vm_req_is_done(req))
			continue;
		rc = peek(req, status_at(statuses, n));
		indices[n++] = i;
	}
	*outcount = n;
	return vm_call_exit_self(&call, rc);
}
