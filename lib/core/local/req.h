/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: operations that were started and are not finished.
 *
 * A request completes by one atomic exchange of its state, which also yields
 * the waiter, or by a store where no other thread can change that meanwhile.  Any
 * OS thread may complete a request; only the task that owns it waits for it and
 * finishes it.
 */
#ifndef CORE_LOCAL_REQ_H
#define CORE_LOCAL_REQ_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "core/local/layout.h"
#include "core/rank/match.h"
#include "introspect/measure/overlap.h"
#include "vmpi.h"

struct vm_ult;
struct vm_rank;

/* A send, a receive, a collective (core/meeting/meet.h); whatever the layer above
 * completes itself. */
enum vm_req_kind { VM_REQ_SEND, VM_REQ_RECV, VM_REQ_COLL, VM_REQ_GENERAL };

/* Values of state below VM_REQ_WAITER; all others are a struct vm_waiter *.
 * STALLED: a receive that is pending, but whose message may have been lost with
 * its sender (core/remote/failure.h); nobody waits for it. */
enum {
	VM_REQ_PENDING,
	VM_REQ_DONE,
	VM_REQ_DETACHED,
	VM_REQ_STALLED,
	VM_REQ_WAITER,
};

/* POSTED: a receive that is of the usual kind in all respects
 * (core/local/light.h); DONE: so is the message that it got. */
enum vm_req_light { VM_REQ_HEAVY, VM_REQ_LIGHT_POSTED, VM_REQ_LIGHT_DONE };

/* A waiter: lives on the waiting task's stack. */
struct vm_waiter {
	struct vm_ult *ult;
	_Atomic int missing; /* completions until it is woken */
	bool alone;	     /* it waits for one request only */
};

/*
 * Written by the owner before it is published, then by the thread that
 * completes it, then (after state is DONE) by the owner again.
 */
struct vmpi_req {
	_Atomic uintptr_t state;
	/* In the posted queue: key and links.  COLL: the context, and as the
	 * tag the number of the call. */
	struct vm_match_node node;
	union {
		struct {
			/* Guarded by the lock of rank's engine.  A receive: it
			 * is in the posted queue. */
			bool posted;
			/* Likewise: enum vm_req_light. */
			uint8_t light;
			/* Written by the owner: */
			uint8_t kind;
			bool active;	/* started and not finished yet */
			bool transient; /* on its task's stack, with its waiter
					   set: nobody else looks at its state,
					   nobody frees it */
			bool leads; /* a receive: its waiter receives what comes
				       next from there, too */
			bool observed; /* at its end vm_observe_sent() is to be
					  called; of a receive: it is counted
					  in progress.under_way */
			bool persistent; /* vm_req_finish() deactivates instead
					    of freeing */
		};
		uint64_t marks; /* all these at once */
	};
	struct vm_rank *rank; /* whose mailbox it is, or goes, to */
	struct vm_data data;  /* buffer; holds a reference on its layout */
	vmpi_status status;
	uint32_t signature; /* of what came, while signatures are wanted */
	union {
		/* A send to elsewhere: its number (core/remote/rndv_send.h). */
		uint64_t rndv_send;
		/* COLL: that of the errand which completes it, or 0. */
		uint64_t errand;
	};
	/* Guarded by the lock of rank's engine: */
	union {
		struct vmpi_msg *msg; /* a send: its message while that is
					 queued */
		/* ... to elsewhere: what stands in the credit queue, under the
		 * lock of that. */
		struct vm_rndv_send *waits;
	};
	void *user; /* the layer above: e.g. the communicator */
	void (*on_free)(struct vmpi_req *req); /* layer above, may be NULL */
	struct vm_overlap_xfer xfer; /* of a direct send, while watched */
};

#define vm_req vmpi_req

/* The one request of all sends that completed at once; never freed. */
extern VM_HIDDEN struct vm_req vm_req_done_send;

/* Handles below 4096 are the layers' null requests. */
static inline bool vm_req_is_null(const struct vm_req *req)
{
	return (uintptr_t)req < 4096;
}

static inline bool vm_req_is_done(const struct vm_req *req)
{
	/* Pairs with the exchange in vm_req_complete(). */
	return atomic_load_explicit(&req->state, memory_order_acquire) ==
	       VM_REQ_DONE;
}

/* Whether vm_req_await() does not wait for it: it is complete, or stalled. */
static inline bool vm_req_is_ready(const struct vm_req *req)
{
	uintptr_t state =
		atomic_load_explicit(&req->state, memory_order_acquire);

	return state == VM_REQ_DONE || state == VM_REQ_STALLED;
}

/* As vm_data_assign(). */
static inline void vm_status_assign(vmpi_status *to, const vmpi_status *from)
{
	to->source = from->source;
	to->tag = from->tag;
	to->bytes = from->bytes;
	to->error = from->error;
	if (VM_UNLIKELY(from->error))
		to->lost = from->lost;
}

/* Of a message that is longer than its receive has room for. */
static inline void vm_status_truncate(vmpi_status *status, size_t sent,
				      size_t room)
{
	status->bytes = room;
	status->error = -VMPI_ETRUNC;
	status->lost = sent - room < UINT_MAX ? (unsigned)(sent - room) :
						UINT_MAX;
}

/* A request out of a pool becomes one that is active and pending; the operation
 * that it is for sets the other fields. */
static VM_ALWAYS_INLINE void vm_req_begin(struct vm_req *req)
{
	atomic_init(&req->state, VM_REQ_PENDING);
	req->status.source = req->status.tag = 0;
	req->status.bytes = 0;
	req->status.error = 0;
	req->msg = NULL;
	req->marks = 0;
	req->active = true;
	req->user = NULL;
	req->on_free = NULL;
}

/* A request of the calling thread's pool; NULL when out of memory. */
struct vm_req *vm_req_new(enum vm_req_kind kind);

/* A request that is complete from the start, with this status (PROC_NULL). */
struct vm_req *vm_req_new_done(enum vm_req_kind kind,
			       const vmpi_status *status);

/* Makes one on the caller's stack, that others complete: only its state is
 * used, and nobody finishes it. */
static inline void vm_req_signal(struct vm_req *req)
{
	vm_req_begin(req);
	req->rank = NULL;
	req->kind = VM_REQ_GENERAL;
}

/* Marks req complete and wakes its waiter.  req->status is set.  _outside: on a
 * thread that vmpi need not know, one that has been made by vm_req_signal(). */
void vm_req_complete(struct vm_req *req);
void vm_req_complete_outside(struct vm_req *req);

/*
 * Waits until `need` of the n requests are complete, or stalled; null and
 * inactive ones are not counted, and no more than the active ones are waited
 * for.  Nothing is finished or freed.  May switch.
 */
void vm_req_await(struct vm_req *const *reqs, int n, int need);

/* Stalls a receive that is posted, and wakes its waiter; false: it was given up.
 * _unstall: it is waited for again.  The lock of its engine is held. */
bool vm_req_stall(struct vm_req *req);
void vm_req_unstall(struct vm_req *req);

/*
 * Waits as vm_req_await(), for one of the n requests or for all of them, until
 * the deadline (CLOCK_MONOTONIC); whether they are complete.  One that has
 * passed only polls.  May switch.
 */
bool vm_req_await_one_until(struct vm_req *const *reqs, int n,
			    uint64_t deadline_ns);
bool vm_req_await_all_until(struct vm_req *const *reqs, int n,
			    uint64_t deadline_ns);

/* Polls after a test that found nothing, and periodically lets others run.  May
 * switch. */
void vm_req_poll(void);

/*
 * Takes the result of a complete request: fills status (may be NULL) and frees
 * it, or makes it inactive if it is persistent.  Returns status.error.
 */
int vm_req_finish(struct vm_req *req, vmpi_status *status);

/* Gives a request up: it is freed when it completes.  Then the completing
 * thread calls on_free, with the lock of an engine held, perhaps. */
void vm_req_detach(struct vm_req *req);

/* Takes back a request that was given up and is not freed yet.  false: it is
 * complete, and its on_free is being called. */
bool vm_req_reclaim(struct vm_req *req);

#endif
