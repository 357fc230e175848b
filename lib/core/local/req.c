/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion and waiting.
 */
#include "core/local/req.h"

#include <limits.h>

#include "base/clock.h"
#include "base/lock.h"
#include "core/local/engine.h"
#include "core/local/errand.h"
#include "core/instrument/overlap_events.h"
#include "core/local/mailbox.h"
#include "core/local/observe.h"
#include "core/rank/state.h"
#include "core/rank/wait.h"

struct vm_req vm_req_done_send = { .state = VM_REQ_DONE, .kind = VM_REQ_SEND };

struct vm_req *vm_req_new(enum vm_req_kind kind)
{
	struct vm_req *req = vm_pool_get(&vm_thread_cache_self()->req);

	if (!req)
		return NULL;
	vm_req_begin(req);
	req->rank = NULL;
	req->data.layout = NULL;
	req->posted = false;
	req->kind = (uint8_t)kind;
	return req;
}

struct vm_req *vm_req_new_done(enum vm_req_kind kind, const vmpi_status *status)
{
	struct vm_req *req = vm_req_new(kind);

	if (!req)
		return NULL;
	req->status = *status;
	atomic_init(&req->state, VM_REQ_DONE);
	return req;
}

/* The owner has an observed one back, or nobody. */
static void observed_end(struct vm_req *req)
{
	if (req->kind == VM_REQ_SEND) {
		vm_observe_sent(req);
		return;
	}
	req->observed = false;
	atomic_fetch_sub_explicit(&vm_node->progress.under_way, 1,
				  memory_order_relaxed);
}

static void req_free(struct vm_req *req)
{
	if (req == &vm_req_done_send || req->transient)
		return;
	if (VM_UNLIKELY(req->observed && req->kind == VM_REQ_RECV))
		observed_end(req);
	vm_layout_drop(req->data.layout);
	if (req->on_free)
		req->on_free(req);
	vm_pool_put(&vm_thread_cache_self()->req, req);
}

/* One of a waiter's requests is ready: the task that is to be woken, or NULL. */
static VM_ALWAYS_INLINE struct vm_ult *waiter_count(struct vm_waiter *waiter)
{
	struct vm_ult *ult = waiter->ult;

	if (!waiter->alone &&
	    atomic_fetch_sub_explicit(&waiter->missing, 1,
				      memory_order_acq_rel) != 1)
		return NULL;
	return ult;
}

/* The task that is to be woken, or NULL. */
static VM_ALWAYS_INLINE struct vm_ult *completed(struct vm_req *req)
{
	uintptr_t old;

	/* Pairs with the loads of vm_req_is_done() and the registration in
	 * vm_req_await(); after it req belongs to its owner again. */
	if (req->transient)
		old = atomic_load_explicit(&req->state, memory_order_relaxed);
	else
		old = atomic_exchange_explicit(&req->state, VM_REQ_DONE,
					       memory_order_acq_rel);
	if (old == VM_REQ_PENDING)
		return NULL;
	if (VM_UNLIKELY(old < VM_REQ_WAITER)) {
		if (old == VM_REQ_DETACHED)
			req_free(req);
		return NULL;
	}
	return waiter_count((struct vm_waiter *)old);
}

void vm_req_complete(struct vm_req *req)
{
	struct vm_ult *ult = completed(req);

	if (!ult)
		return;
	if (vm_self->worker == ult->worker)
		vm_ult_wake_next(ult);
	else
		vm_ult_wake(ult);
}

void vm_req_complete_outside(struct vm_req *req)
{
	struct vm_ult *ult = completed(req);

	if (ult)
		vm_ult_wake(ult);
}

bool vm_req_stall(struct vm_req *req)
{
	uintptr_t old = atomic_load_explicit(&req->state, memory_order_relaxed);
	struct vm_ult *ult;

	/* As in completed(); the owner may enter or leave meanwhile. */
	do {
		if (old == VM_REQ_STALLED || old == VM_REQ_DETACHED)
			return old == VM_REQ_STALLED;
	} while (!atomic_compare_exchange_weak_explicit(
		&req->state, &old, VM_REQ_STALLED, memory_order_acq_rel,
		memory_order_relaxed));
	ult = old == VM_REQ_PENDING ? NULL :
				      waiter_count((struct vm_waiter *)old);
	if (ult)
		vm_ult_wake(ult);
	return true;
}

void vm_req_unstall(struct vm_req *req)
{
	uintptr_t stalled = VM_REQ_STALLED;

	atomic_compare_exchange_strong_explicit(&req->state, &stalled,
						VM_REQ_PENDING,
						memory_order_acq_rel,
						memory_order_relaxed);
}

static bool req_counts(const struct vm_req *req)
{
	return !vm_req_is_null(req) &&
	       (req->active || req == &vm_req_done_send);
}

/* Changes the state of a request, from *old; false: it is another one, now in
 * *old.  On its worker a receive may be completed without an exchange, inside the
 * engine (vm_quick_complete()), so others change a pending one under the lock. */
static bool state_change(struct vm_req *req, uintptr_t *old, uintptr_t state)
{
	struct vm_engine *engine = NULL;
	bool changed;

	if (req->kind == VM_REQ_RECV && req->rank &&
	    !vm_engine_is_own(req->rank->engine, vm_self->worker))
		engine = req->rank->engine;
	if (VM_UNLIKELY(engine))
		vm_engine_lock(engine);
	/* Pairs with the exchange in vm_req_complete(). */
	changed = atomic_compare_exchange_strong_explicit(&req->state, old,
							  state,
							  memory_order_acq_rel,
							  memory_order_acquire);
	if (VM_UNLIKELY(engine))
		vm_engine_unlock(engine);
	return changed;
}

/* Enters the waiter into a request; false: it is ready already. */
static bool waiter_enter(struct vm_waiter *waiter, struct vm_req *req)
{
	uintptr_t pending = VM_REQ_PENDING;

	return state_change(req, &pending, (uintptr_t)waiter);
}

/* Takes the waiter out again; false: it was not, or is no longer, in there. */
static bool waiter_leave(struct vm_waiter *waiter, struct vm_req *req)
{
	uintptr_t entered = (uintptr_t)waiter;

	return atomic_compare_exchange_strong_explicit(&req->state, &entered,
						       VM_REQ_PENDING,
						       memory_order_acq_rel,
						       memory_order_acquire);
}

/* The value of waiter.missing while it is being entered: no number of
 * completions brings it to zero. */
#define MISSING_HIGH (INT_MAX / 2)

/* Waits until `missing` of the requests the waiter is in have completed. */
static void waiter_wait(struct vm_waiter *waiter, int missing,
			struct vm_req *const *reqs, int n)
{
	struct vm_rank *rank;

	if (atomic_fetch_sub_explicit(&waiter->missing, MISSING_HIGH - missing,
				      memory_order_acq_rel) <=
	    MISSING_HIGH - missing)
		return;
	/* For reports of deadlocks, which are made while all ranks wait. */
	rank = vm_wait_rank();
	if (rank)
		rank->several = (struct vm_several){ reqs, n };
	vm_wait_other(VM_EXPORT_WAIT);
	if (rank)
		rank->several.count = 0;
}

/* Leaves all requests; returns when no thread can touch the waiter any more. */
static void waiter_leave_all(struct vm_waiter *waiter, int base, int entered,
			     struct vm_req *const *reqs, int n,
			     struct vm_req *other)
{
	int completed = entered;

	for (int i = 0; i < n; i++)
		if (req_counts(reqs[i]) && waiter_leave(waiter, reqs[i]))
			completed--;
	if (other && waiter_leave(waiter, other))
		completed--;
	while (atomic_load_explicit(&waiter->missing, memory_order_acquire) !=
	       base - completed)
		vm_cpu_relax();
}

/* Suspends the caller until req completes. */
static void wait_for(const struct vm_req *req)
{
	if (req->kind == VM_REQ_SEND && req->rank) {
		/* The envelope of a receive is written by the thread that
		 * completes it. */
		struct vm_env env = { .tag = req->status.tag };

		vm_wait_message(VM_EXPORT_WAIT, &env, req->rank->index,
				req->data.bytes,
				VM_EXPORT_SENDS | VM_EXPORT_OF_WORLD);
	} else if (req->kind == VM_REQ_RECV) {
		vm_wait_message(VM_EXPORT_WAIT, &req->node.env,
				req->node.env.source, req->data.bytes, 0);
	} else if (req->kind == VM_REQ_COLL) {
		vm_wait_started(&req->node.env);
	} else {
		vm_wait_other(VM_EXPORT_WAIT);
	}
}

static void await_one(struct vm_req *req)
{
	struct vm_waiter waiter = { .ult = vm_self, .alone = true };

	if (vm_req_is_ready(req))
		return;
	if (req->kind == VM_REQ_COLL && req->errand)
		vm_errand_do(req->errand);
	if (waiter_enter(&waiter, req))
		wait_for(req);
}

static inline bool errands_kept(void)
{
	const struct vm_rank *rank = vm_rank_self();

	return rank && vm_errands_kept(rank);
}

/* The number of active requests that are not ready; *active counts all active
 * ones. */
static int count_pending(struct vm_req *const *reqs, int n, int *active)
{
	int pending = 0;

	*active = 0;
	for (int i = 0; i < n; i++) {
		if (!req_counts(reqs[i]))
			continue;
		++*active;
		pending += !vm_req_is_ready(reqs[i]);
	}
	return pending;
}

/* other: NULL, or one more, which is active. */
static void await_many(struct vm_req *const *reqs, int n, int need,
		       struct vm_req *other)
{
	struct vm_waiter waiter = { .ult = vm_self };
	int active, entered = 0, missing;
	int pending = count_pending(reqs, n, &active);

	if (need > active)
		need = active;
	if (active - pending >= need || (other && vm_req_is_done(other)))
		return;
	atomic_init(&waiter.missing, MISSING_HIGH);
	for (int i = 0; i < n; i++)
		entered += req_counts(reqs[i]) &&
			   waiter_enter(&waiter, reqs[i]);
	if (other) {
		active++;
		entered += waiter_enter(&waiter, other);
	}
	missing = need - (active - entered);
	if (missing > 0 && VM_UNLIKELY(errands_kept()))
		vm_errands_give();
	if (missing > 0)
		waiter_wait(&waiter, missing, reqs, n);
	if (missing != entered)
		waiter_leave_all(&waiter, missing > 0 ? missing : MISSING_HIGH,
				 entered, reqs, n, other);
}

/* From the last to the first: operations often complete in their order, and
 * then this waits once. */
static void await_all(struct vm_req *const *reqs, int n)
{
	while (n-- > 0)
		if (req_counts(reqs[n]))
			await_one(reqs[n]);
}

void vm_req_await(struct vm_req *const *reqs, int n, int need)
{
	vm_self->sends_in_row = 0;
	if (need >= n)
		await_all(reqs, n);
	else
		await_many(reqs, n, need, NULL);
}

/* Waits until one of the active ones of n requests is complete, or `other`. */
static void await_or(struct vm_req *const *reqs, int n, struct vm_req *other)
{
	vm_self->sends_in_row = 0;
	await_many(reqs, n, 1, other);
}

/* Completes a request when it is time. */
struct req_alarm {
	struct vm_alarm alarm;
	struct vm_req req;
};

static void req_ring(struct vm_alarm *alarm)
{
	vm_req_complete(&vm_container_of(alarm, struct req_alarm, alarm)->req);
}

static bool one_is_done(struct vm_req *const *reqs, int n)
{
	int active;

	return count_pending(reqs, n, &active) < active || !active;
}

bool vm_req_await_one_until(struct vm_req *const *reqs, int n,
			    uint64_t deadline_ns)
{
	struct req_alarm time = { .alarm.ring = req_ring };

	if (one_is_done(reqs, n))
		return true;
	if (deadline_ns == UINT64_MAX) {
		vm_req_await(reqs, n, 1);
		return true;
	}
	if (deadline_ns <= vm_clock_ns()) {
		vm_req_poll();
		return one_is_done(reqs, n);
	}
	vm_req_signal(&time.req);
	vm_ult_alarm_set(&time.alarm, deadline_ns);
	await_or(reqs, n, &time.req);
	vm_ult_alarm_clear();
	return one_is_done(reqs, n);
}

/* From the last to the first, as await_all(). */
bool vm_req_await_all_until(struct vm_req *const *reqs, int n,
			    uint64_t deadline_ns)
{
	while (n-- > 0)
		if (!vm_req_await_one_until(&reqs[n], 1, deadline_ns))
			return false;
	return true;
}

void vm_req_poll(void)
{
	struct vm_ult *self = vm_self;

	vm_worker_vain(self->worker);
	const struct vm_rank *rank = self->owner;
	int64_t budget = rank ? vm_rank_cvars(rank)->test_budget :
				core_cvar.test_budget;

	if (VM_UNLIKELY(rank && vm_errands_kept(rank)) && vm_errands_reap())
		return;

	if (++self->tests_in_row < budget) {
		if (vm_sched.hooks.poll)
			vm_sched.hooks.poll(self->worker);
		return;
	}
	self->tests_in_row = 0;
	if (vm_ult_poll() && rank)
		vm_pvar_add(vm_counters()->yields, 1);
}

int vm_req_finish(struct vm_req *req, vmpi_status *status)
{
	int error = req->status.error;

	VM_ASSERT(vm_req_is_done(req));
	vm_worker_got(vm_self->worker);
	if (status)
		vm_status_assign(status, &req->status);
	if (req->kind == VM_REQ_RECV && req->rank && error != -VMPI_ECANCELED)
		vm_count_received(req->node.env.context, req->status.bytes);
	if (VM_UNLIKELY(req->observed))
		observed_end(req);
	if (req->persistent) {
		req->active = false;
		vm_layout_drop(req->data.layout);
		req->data.layout = NULL;
	} else {
		req_free(req);
	}
	return error;
}

void vm_req_detach(struct vm_req *req)
{
	uintptr_t old = VM_REQ_PENDING;
	bool active = req->active;

	if (req == &vm_req_done_send)
		return;
	if (VM_UNLIKELY(req->kind == VM_REQ_COLL && errands_kept()))
		vm_errands_give();
	/* So that the layers above recognise stale handles. */
	req->persistent = req->active = false;
	while (active && (old == VM_REQ_PENDING || old == VM_REQ_STALLED))
		if (state_change(req, &old, VM_REQ_DETACHED))
			return;
	req_free(req);
}

bool vm_req_reclaim(struct vm_req *req)
{
	uintptr_t detached = VM_REQ_DETACHED;

	if (!atomic_compare_exchange_strong_explicit(
		    &req->state, &detached, VM_REQ_PENDING,
		    memory_order_acq_rel, memory_order_acquire))
		return false;
	req->active = true;
	return true;
}
