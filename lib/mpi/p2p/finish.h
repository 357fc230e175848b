/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking the results of requests: what all wait and test calls share.
 *
 * The quick ways are for complete requests of the usual kind; they change
 * nothing when they refuse one, and the caller does the same by the functions
 * that check and explain everything.
 */
#ifndef MPI_P2P_FINISH_H
#define MPI_P2P_FINISH_H

#include "core/comm/quick.h"
#include "mpi/call/status.h"
#include "mpi/p2p/grequest.h"
#include "mpi/p2p/request.h"
#include "mpi/p2p/typed.h"

/* Whose error handler gets a request's error. */
struct vm_request_of {
	struct vm_env env;
	int (*fail)(struct vm_call *call, void *object, int rc); /* or NULL */
	void *object;
};

static inline struct vm_request_of vm_request_whose(const struct vm_req *req)
{
	struct vm_request_of whose = { .env = req->node.env };

	if (VM_UNLIKELY(req->kind == VM_REQ_GENERAL)) {
		whose.fail = vm_grequest_of(req)->fail;
		whose.object = vm_grequest_of(req)->object;
	}
	return whose;
}

int vm_request_fail(struct vm_call *call, const struct vm_request_of *whose,
		    int rc);

/* Completes one request and returns through the right error handler. */
int vm_request_finish_one(struct vm_call *call, MPI_Request *request,
			  MPI_Status *status);

/* Fills the status of a request that is idle or complete, which stays; of one
 * that is stalled: its error. */
int vm_request_peek(struct vm_call *call, struct vm_req *req,
		    MPI_Status *status);

/* What vm_request_quick() does as a call goes through its requests. */
struct vm_request_quick {
	struct vm_ult *self;
	struct vm_thread_cache *cache;
	uintptr_t base, readable; /* of where requests lie */
	unsigned free;		  /* those of cache->light */
	uint64_t receives, bytes; /* what there was */
};

static VM_ALWAYS_INLINE struct vm_request_quick vm_request_quick_begin(void)
{
	struct vm_ult *self = vm_self;
	struct vm_thread_cache *cache = self->worker->cache;
	const struct vm_arena *arena = &vm_node->arenas.req;

	return (struct vm_request_quick){
		.self = self,
		.cache = cache,
		.base = arena->base,
		.readable = __atomic_load_n(&arena->readable, __ATOMIC_RELAXED),
		.free = cache->light_count,
	};
}

static VM_ALWAYS_INLINE void
vm_request_quick_end(const struct vm_request_quick *quick)
{
	struct core_rank_pvars *pvars = quick->self->counts;

	quick->cache->light_count = quick->free;
	vm_worker_got(quick->self->worker);
	vm_pvar_add(pvars->receives, quick->receives);
	vm_pvar_add(pvars->received_bytes, quick->bytes);
}

/* The same of one of another usual kind, which is counted at once. */
bool vm_request_quick_other(struct vm_ult *self, MPI_Request *request,
			    MPI_Status *status);

/* vm_request_finish() of a complete request of the usual kind, without an error;
 * false: it is another one. */
static VM_ALWAYS_INLINE bool vm_request_quick(struct vm_request_quick *quick,
					      MPI_Request *request,
					      MPI_Status *status)
{
	struct vm_req *req = vm_request(*request);
	uintptr_t at = (uintptr_t)req - quick->base;

	if (req == &vm_req_done_send) {
		*request = MPI_REQUEST_NULL;
		vm_status_set(status, &req->status);
		return true;
	}
	if (VM_UNLIKELY(at >= quick->readable || at & (VM_CACHELINE - 1)))
		return false;
	if (VM_UNLIKELY(!vm_quick_done(req)))
		return vm_request_quick_other(quick->self, request, status);
	*request = MPI_REQUEST_NULL;
	vm_status_set(status, &req->status);
	quick->receives++;
	quick->bytes += req->status.bytes;
	vm_quick_put(quick->cache, &quick->free, req);
	return true;
}

/* Of one request. */
static VM_ALWAYS_INLINE bool vm_request_took(MPI_Request *request,
					     MPI_Status *status)
{
	struct vm_request_quick quick = vm_request_quick_begin();

	if (VM_UNLIKELY(!vm_request_quick(&quick, request, status)))
		return false;
	vm_request_quick_end(&quick);
	return true;
}

/* The state of MPI of the caller, where calls may be quick; else NULL. */
static inline struct vm_mpi *vm_request_mpi(void)
{
	struct vm_mpi *mpi = vm_mpi_self();

	if (VM_UNLIKELY(!mpi || mpi->phase != VM_MPI_RUNNING || vm_typed()))
		return NULL;
	return mpi;
}

static inline MPI_Status *vm_status_at(MPI_Status *statuses, int i)
{
	return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE :
						 &statuses[i];
}

static inline void vm_status_set_error(MPI_Status *status, int error)
{
	if (status != MPI_STATUS_IGNORE)
		status->MPI_ERROR = error;
}

/* What a look at one of several requests finds; DONE: or stalled, which is an
 * error; VM_REQUEST_ODD: it is none, as vm_check_request() would say. */
enum vm_request_look {
	VM_REQUEST_IDLE,
	VM_REQUEST_PENDING,
	VM_REQUEST_DONE,
	VM_REQUEST_ODD,
};

static VM_ALWAYS_INLINE enum vm_request_look
vm_request_look(MPI_Request request)
{
	const struct vm_req *req = vm_request(request);

	if (request == MPI_REQUEST_NULL)
		return VM_REQUEST_IDLE;
	if (req == &vm_req_done_send)
		return VM_REQUEST_DONE;
	if (VM_UNLIKELY(!vm_arena_has(&vm_node->arenas.req, req)))
		return VM_REQUEST_ODD;
	if (VM_UNLIKELY(!req->active))
		return req->persistent ? VM_REQUEST_IDLE : VM_REQUEST_ODD;
	return vm_req_is_ready(req) ? VM_REQUEST_DONE : VM_REQUEST_PENDING;
}

#endif
