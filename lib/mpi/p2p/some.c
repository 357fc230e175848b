/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion of any, or of some, of several requests.
 *
 * A call looks at each request once: it is checked by the way, up to the first
 * one that is complete.
 */
#include "mpi/p2p/finish.h"

#include "mpi/call/check.h"

/* Results of find_done(), besides the number of a request and MPI_UNDEFINED. */
enum { NOT_YET = -1, ODD = -2 };

VM_STATIC_ASSERT(MPI_UNDEFINED<ODD || MPI_UNDEFINED> 0,
		 "it is told from the others");

/*
 * Returns the first complete request from start on, wrapping round; NOT_YET;
 * MPI_UNDEFINED: all are idle; ODD: one is no request.
 */
static VM_ALWAYS_INLINE int find_done(int start, int count,
				      const MPI_Request *requests)
{
	int result = MPI_UNDEFINED;

	for (int n = 0, i = start; n < count; n++, i++) {
		enum vm_request_look look;

		if (i == count)
			i = 0;
		look = vm_request_look(requests[i]);
		if (look == VM_REQUEST_DONE)
			return i;
		if (VM_UNLIKELY(look == VM_REQUEST_ODD))
			return ODD;
		if (look == VM_REQUEST_PENDING)
			result = NOT_YET;
	}
	return result;
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
static VM_ALWAYS_INLINE int find_any(const struct vm_mpi *mpi, int count,
				     const MPI_Request *requests)
{
	return find_done(any_start(mpi, count, requests), count, requests);
}

/* Says what is wrong with the arguments of a call; 0: nothing, or something with
 * an argument that the caller checks. */
static __attribute__((noinline)) int
arguments_check(struct vm_call *call, int count, const MPI_Request *requests,
		const int *index)
{
	int rc = vm_check_requests(call, count, requests);

	return rc ? rc : vm_check_pointer(call, index, "index");
}

/* Ends Waitany and Testany: i is the result of find_any(), not NOT_YET. */
static __attribute__((noinline)) int finish_any(struct vm_call *call, int i,
						int count,
						MPI_Request *requests,
						int *index, MPI_Status *status)
{
	int rc;

	if (VM_UNLIKELY(i == ODD)) {
		rc = arguments_check(call, count, requests, index);
		return vm_call_exit_self(call, rc);
	}
	*index = i;
	if (i == MPI_UNDEFINED) {
		vm_status_set_empty(status);
		return MPI_SUCCESS;
	}
	any_taken(call->mpi, i, count, requests);
	return vm_request_finish_one(call, &requests[i], status);
}

/* The same of a request of the usual kind; false: it is another one. */
static VM_ALWAYS_INLINE bool took_any(struct vm_mpi *mpi, int i, int count,
				      MPI_Request *requests, int *index,
				      MPI_Status *status)
{
	if (VM_UNLIKELY(i < 0 || vm_typed() ||
			!vm_request_took(&requests[i], status)))
		return false;
	*index = i;
	any_taken(mpi, i, count, requests);
	return true;
}

int PMPI_Waitany(int count, MPI_Request requests[], int *index,
		 MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Waitany);
	int i, rc;

	if (VM_UNLIKELY(count < 0 || (count && !requests) || !index)) {
		rc = arguments_check(&call, count, requests, index);
		return vm_call_exit_self(&call, rc);
	}
	while ((i = find_any(call.mpi, count, requests)) == NOT_YET)
		vm_req_await((struct vm_req *const *)requests, count, 1);
	if (VM_LIKELY(took_any(call.mpi, i, count, requests, index, status)))
		return MPI_SUCCESS;
	return finish_any(&call, i, count, requests, index, status);
}

int PMPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
		 MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Testany);
	int i, rc;

	if (VM_UNLIKELY(count < 0 || (count && !requests) || !index || !flag)) {
		rc = arguments_check(&call, count, requests, index);
		if (rc == 0)
			rc = vm_check_pointer(&call, flag, "flag");
		return vm_call_exit_self(&call, rc);
	}
	i = find_any(call.mpi, count, requests);
	if (i == NOT_YET) {
		vm_req_poll();
		i = find_any(call.mpi, count, requests);
	}
	*flag = i != NOT_YET;
	if (!*flag) {
		*index = MPI_UNDEFINED;
		return MPI_SUCCESS;
	}
	if (VM_LIKELY(took_any(call.mpi, i, count, requests, index, status)))
		return MPI_SUCCESS;
	return finish_any(&call, i, count, requests, index, status);
}

/* Takes the result of a request that is complete, for finish_some(). */
static __attribute__((noinline)) int finish_odd(struct vm_call *call,
						MPI_Request *request,
						MPI_Status *status,
						struct vm_request_of *whose)
{
	*whose = vm_request_whose(vm_request(*request));
	return vm_request_finish(call, request, status);
}

/* Ends Waitsome and Testsome: completes all requests that are done. */
static int finish_some(struct vm_call *call, int count, MPI_Request *requests,
		       int *outcount, int *indices, MPI_Status *statuses)
{
	struct vm_request_quick quick = vm_request_quick_begin();
	struct vm_request_of whose, first_whose = { 0 };
	int first = MPI_SUCCESS, n = 0;

	for (int i = 0; i < count; i++) {
		MPI_Status *status = vm_status_at(statuses, n);
		int rc = MPI_SUCCESS;

		if (vm_request_look(requests[i]) != VM_REQUEST_DONE)
			continue;
		if (VM_UNLIKELY(
			    vm_typed() ||
			    !vm_request_quick(&quick, &requests[i], status))) {
			/* It may call functions of the program. */
			vm_request_quick_end(&quick);
			rc = finish_odd(call, &requests[i], status, &whose);
			quick = vm_request_quick_begin();
		}
		vm_status_set_error(status, rc);
		indices[n++] = i;
		if (VM_UNLIKELY(rc != MPI_SUCCESS) && first == MPI_SUCCESS) {
			first = rc;
			first_whose = whose;
		}
	}
	vm_request_quick_end(&quick);
	*outcount = n;
	if (VM_LIKELY(first == MPI_SUCCESS))
		return MPI_SUCCESS;
	return vm_request_fail(call, &first_whose, MPI_ERR_IN_STATUS);
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
	while ((i = find_done(0, incount, requests)) == NOT_YET)
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
	if (i == NOT_YET) {
		vm_req_poll();
		i = find_done(0, incount, requests);
	}
	*outcount = i == NOT_YET ? 0 : MPI_UNDEFINED;
	if (i == NOT_YET || i == MPI_UNDEFINED)
		return MPI_SUCCESS;
	return finish_some(&call, incount, requests, outcount, indices,
			   statuses);
}

int PMPI_Request_get_status_any(int count, const MPI_Request requests[],
				int *index, int *flag, MPI_Status *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Request_get_status_any);
	int i, rc = arguments_check(&call, count, requests, index);

	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	i = find_done(0, count, requests);
	if (i == NOT_YET) {
		vm_req_poll();
		i = find_done(0, count, requests);
	}
	*flag = i != NOT_YET;
	*index = *flag ? i : MPI_UNDEFINED;
	if (i == MPI_UNDEFINED)
		vm_status_set_empty(status);
	else if (*flag)
		rc = vm_request_peek(&call, vm_request(requests[i]), status);
	*flag = *flag && rc == 0;
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
	if (found == NOT_YET)
		vm_req_poll();
	*outcount = MPI_UNDEFINED;
	if (found == MPI_UNDEFINED)
		return MPI_SUCCESS;
	for (int i = 0; rc == 0 && i < incount; i++) {
		if (vm_request_look(requests[i]) != VM_REQUEST_DONE)
			continue;
		rc = vm_request_peek(&call, vm_request(requests[i]),
				     vm_status_at(statuses, n));
		indices[n++] = i;
	}
	*outcount = n;
	return vm_call_exit_self(&call, rc);
}
