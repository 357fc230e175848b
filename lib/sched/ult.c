/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switch from one ULT to another, and the life of a ULT around it.
 *
 * There is one place that switches, switch_to(); a ULT that comes back there or
 * starts fresh first buries the ULT that ended by switching to it.
 */
#include "sched/ult.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "sched/clocks.h"
#include "sched/ctx.h"
#include "sched/futex.h"
#include "sched/local.h"
#include "sched/sanitize.h"
#include "sched/sleepers.h"
#include "sched/thread.h"
#include "sched/worker.h"

_Thread_local struct vm_ult *vm_self;
_Thread_local bool vm_resumed;

/* Stack tops are spread over cache sets by this many lines. */
#define COLOURS 61

static void ult_free(struct vm_ult *ult)
{
	struct vm_stack stack = ult->stack;
	struct vm_stack_pool *pool = ult->pool;

	if (vm_stack_overrun(&stack))
		vm_panic("a task overflowed its stack of %zu KiB; raise it "
			 "with --stack SIZE",
			 stack.bytes / 1024);
	vm_sanitize_free(ult);
	vm_stack_put(pool, &stack);
}

/* Tells a watcher from a ULT that joins. */
#define WATCHED 1u

static void watcher_tell(uintptr_t watcher)
{
	struct vm_ult_end *end = (struct vm_ult_end *)(watcher - WATCHED);

	end->ended(end);
}

/*
 * Lets go of the ULT that ended last on this worker; the caller is off its
 * stack.  Never inlined: code that runs right after a switch must not have kept
 * the address of vm_self from before, because the ULT may have moved to another
 * OS thread.
 */
static __attribute__((noinline)) void bury(struct vm_worker *worker)
{
	struct vm_ult *ult = worker->zombie;
	void (*on_end)(void) = ult->on_end;
	uintptr_t joiner;

	worker->zombie = NULL;
	/* Pairs with the exchange in vm_ult_join() and vm_ult_detach(), and that
	 * in vm_ult_end_watch(). */
	joiner = atomic_exchange_explicit(&ult->end, VM_ULT_ENDED,
					  memory_order_acq_rel);
	if (joiner == VM_ULT_DETACHED)
		ult_free(ult);
	else if (joiner & WATCHED)
		watcher_tell(joiner);
	else if (joiner != VM_ULT_ALIVE)
		vm_ult_wake((struct vm_ult *)joiner);
	if (on_end)
		on_end();
}

/* The first steps of every ULT when it gets its OS thread (back). */
static inline void resume(struct vm_ult *self)
{
	struct vm_worker *worker = self->worker;

	vm_sanitize_enter(self);
	if (VM_UNLIKELY(worker->zombie != NULL))
		bury(worker);
	if (VM_UNLIKELY(self->locals != NULL))
		vm_local_load(self->locals, worker->locals);
	*worker->errno_address = self->saved_errno;
}

/* Out of line, as is whatever a switch seldom does, so that it saves few
 * registers. */
static __attribute__((noinline)) void switch_observed(struct vm_worker *worker,
						      struct vm_ult *self,
						      struct vm_ult *next,
						      enum vm_why why)
{
	if (vm_sched_observed() & ~(unsigned)VM_OBSERVE_STACKS)
		vm_clocks_switch(worker, self, next, why);
	if (vm_sched_observed() & VM_OBSERVE_STACKS)
		vm_sched.on_stack(self, next, worker->zombie == self);
}

/*
 * Does everything between two ULTs of a worker.  Never inlined: one call site
 * of vm_ctx_switch() keeps the return predictor right.
 */
static __attribute__((noinline)) void
switch_to(struct vm_ult *self, struct vm_ult *next, enum vm_why why)
{
	struct vm_worker *worker = self->worker;

	self->saved_errno = *worker->errno_address;
	if (VM_UNLIKELY(self->locals != NULL))
		vm_local_save(self->locals, worker->locals);
	if (VM_UNLIKELY(vm_sched_observed() != 0))
		switch_observed(worker, self, next, why);
	vm_pvar_add(worker->pvars.switches, 1);
	vm_self = next;
	vm_resumed = true;
	vm_sanitize_leave(self, next, worker->zombie == self);
	vm_ctx_switch(&self->sp, next->sp);
	resume(self);
}

static void ult_main(void *arg)
{
	struct vm_ult *self = arg;

	resume(self);
	vm_ult_exit(self->body(self->arg));
}

/* The place of its copies. */
static char *locals_of(struct vm_ult *ult)
{
	return (char *)(((uintptr_t)ult - vm_local_bytes()) & ~(uintptr_t)63);
}

static void locals_begin(struct vm_ult *ult)
{
	ult->locals = locals_of(ult);
	vm_local_fresh(ult->locals);
}

int vm_ult_new(struct vm_ult **ult, struct vm_worker *worker,
	       struct vm_stack_pool *pool, int (*body)(void *), void *arg)
{
	static _Atomic unsigned colour;
	struct vm_stack stack;
	struct vm_ult *new;
	size_t locals = vm_local_bytes();
	uintptr_t top;
	int rc = vm_stack_get(pool, &stack);

	if (rc)
		return rc;
	top = (uintptr_t)stack.base + stack.bytes;
	top -= atomic_fetch_add_explicit(&colour, 1, memory_order_relaxed) %
	       COLOURS * VM_CACHELINE;
	top -= sizeof(struct vm_ult);
	new = (struct vm_ult *)(top & ~(uintptr_t)(VM_CACHELINE - 1));
	*new = (struct vm_ult){ .worker = worker,
				.body = body,
				.arg = arg,
				.stack = stack,
				.pool = pool };
	top = (uintptr_t) new;
	if (locals) {
		top = (uintptr_t)locals_of(new);
		/* In steps it has those of the thread. */
		if (worker->index >= 0)
			locals_begin(new);
	}
	vm_sanitize_new(new);
	new->sp = vm_ctx_make(stack.base, top - (uintptr_t)stack.base, ult_main,
			      new);
	*ult = new;
	return 0;
}

/* Puts the ULT into the inbox of another OS thread's worker. */
static void wake_remote(struct vm_ult *ult)
{
	struct vm_worker *worker = ult->worker;
	struct vm_ult *head =
		atomic_load_explicit(&worker->inbox, memory_order_relaxed);

	/* Pairs with the exchange in vm_worker_inbox(). */
	do
		ult->next = head;
	while (!atomic_compare_exchange_weak_explicit(&worker->inbox, &head,
						      ult, memory_order_release,
						      memory_order_relaxed));
	vm_worker_nudge(worker);
}

/* It has been handed over, and now waits no longer. */
static void moved_wake(struct vm_ult *ult)
{
	ult->worker = ult->moves_to;
	vm_ult_wake(ult);
}

void vm_ult_wake(struct vm_ult *ult)
{
	struct vm_worker *worker = ult->worker;

	if (VM_UNLIKELY(worker->index < 0)) {
		/* Pairs with the exchange and loads in thread_suspend() and
		 * that in vm_ult_hand_over(). */
		uint32_t old = atomic_exchange_explicit(
			&ult->signal, VM_SIGNAL_WOKEN, memory_order_acq_rel);

		if (old == VM_SIGNAL_MOVED)
			moved_wake(ult);
		if (old != VM_SIGNAL_ASLEEP)
			return;
		atomic_fetch_sub(&vm_sched.threads_asleep, 1);
		if (!vm_sched.hooks.thread_kick ||
		    !vm_sched.hooks.thread_kick(ult))
			vm_futex_wake(&ult->signal);
	} else if (vm_self && vm_self->worker == worker) {
		vm_worker_push(worker, ult);
	} else {
		wake_remote(ult);
	}
}

void vm_ult_wake_next(struct vm_ult *ult)
{
	struct vm_worker *worker = ult->worker;

	VM_ASSERT(vm_self->worker == worker);
	if (worker->index < 0) {
		vm_ult_wake(ult);
		return;
	}
	if (worker->next)
		vm_worker_push(worker, worker->next);
	worker->next = ult;
}

static bool is_woken(void *ult)
{
	/* Pairs with the exchange in vm_ult_wake(). */
	return atomic_load_explicit(&((struct vm_ult *)ult)->signal,
				    memory_order_acquire) == VM_SIGNAL_WOKEN;
}

/* Whether a thread's alarm was due, and has woken it. */
static bool alarm_rings(struct vm_ult *self)
{
	if (!vm_ult_alarm(self) || vm_clock_ns() < self->deadline)
		return false;
	vm_ult_ring(self);
	return is_woken(self);
}

/* How long a thread may sleep that would do so for ns (0: no limit). */
static uint64_t alarm_limit(const struct vm_ult *self, uint64_t ns)
{
	uint64_t now, left;

	if (!vm_ult_alarm(self))
		return ns;
	now = vm_clock_ns();
	left = self->deadline > now ? self->deadline - now : 1;
	return !ns || left < ns ? left : ns;
}

/* Sleep of a thread of a rank between two polls of the network. */
#define LOOK_NS_MIN 1000000u
#define LOOK_NS_MAX 16000000u

/*
 * Sleeps until the thread is woken.  A rank that waits for the network may hold
 * a resource, such as a mutex, that a worker waits for in the kernel: then only
 * the rank's threads poll the network.
 */
static void thread_sleep(struct vm_ult *self)
{
	bool looks = vm_sched.hooks.thread_poll && self->owner;
	uint64_t ns = looks ? LOOK_NS_MIN : 0;

	while (!is_woken(self) && !alarm_rings(self)) {
		if (looks && vm_sched.hooks.thread_sleep &&
		    vm_sched.hooks.thread_sleep(self))
			continue;
		vm_futex_wait(&self->signal, VM_SIGNAL_ASLEEP,
			      alarm_limit(self, ns));
		if (!looks || is_woken(self))
			continue;
		if (vm_sched.hooks.thread_poll())
			ns = LOOK_NS_MIN;
		else if (ns < LOOK_NS_MAX)
			ns *= 2;
	}
}

/* Whether the thread is to sleep: it has not been woken before.  Who wakes it
 * counts it as awake. */
static bool falls_asleep(struct vm_ult *self)
{
	uint32_t none = VM_SIGNAL_NONE;

	atomic_fetch_add(&vm_sched.thread_sleeps, 1);
	atomic_fetch_add(&vm_sched.threads_asleep, 1);
	/* Pairs with the exchange in vm_ult_wake(). */
	if (atomic_compare_exchange_strong_explicit(
		    &self->signal, &none, VM_SIGNAL_ASLEEP,
		    memory_order_acq_rel, memory_order_acquire))
		return true;
	atomic_fetch_sub(&vm_sched.threads_asleep, 1);
	return false;
}

static __attribute__((noinline)) void thread_suspend(struct vm_ult *self)
{
	struct vm_worker *worker = self->worker;
	bool ran = vm_clocks_pause(self), naps;

	if ((worker->spun || !vm_thread_spin(worker, is_woken, self)) &&
	    falls_asleep(self)) {
		if (vm_sched.hooks.rest)
			vm_sched.hooks.rest(NULL);
		naps = vm_ult_alarm(self);
		thread_sleep(self);
		vm_worker_slept(worker,
				naps ? UINT64_MAX :
				       vm_clock_ns() - worker->waits_since);
	}
	worker->spun = false;
	atomic_store_explicit(&self->signal, VM_SIGNAL_NONE,
			      memory_order_relaxed);
	if (ran)
		vm_clocks_resume(self);
}

/* Ends a step, unless it has been woken meanwhile. */
static __attribute__((noinline)) void step_suspend(struct vm_ult *self)
{
	if (is_woken(self))
		atomic_store_explicit(&self->signal, VM_SIGNAL_NONE,
				      memory_order_relaxed);
	else
		switch_to(self, &self->worker->root, VM_WHY_WAITS);
}

bool vm_ult_step(struct vm_ult *ult)
{
	VM_ASSERT(ult->worker == vm_self->worker && vm_ult_in_steps(ult));
	if (!is_woken(ult))
		return false;
	atomic_store_explicit(&ult->signal, VM_SIGNAL_NONE,
			      memory_order_relaxed);
	switch_to(vm_self, ult, VM_WHY_YIELDS);
	return true;
}

void vm_ult_hand_over(struct vm_ult *ult, struct vm_worker *worker)
{
	VM_ASSERT(worker->index >= 0 && vm_ult_in_steps(ult));
	if (vm_local_bytes())
		locals_begin(ult);
	ult->moves_to = worker;
	/* Pairs with the exchange in vm_ult_wake(). */
	if (atomic_exchange_explicit(&ult->signal, VM_SIGNAL_MOVED,
				     memory_order_acq_rel) == VM_SIGNAL_WOKEN)
		moved_wake(ult);
}

/* The caller, with nothing to run, polls and sleeps on its own stack until
 * there is a ULT to run. */
static __attribute__((noinline)) struct vm_ult *
next_await(struct vm_worker *worker)
{
	bool observed = vm_clocks_idle(worker);
	struct vm_ult *next;

	/* To look once more would let what has come wait for a system call. */
	do
		vm_worker_idle(worker);
	while (!(next = vm_worker_pick(worker)));
	vm_clocks_busy(observed);
	return next;
}

void vm_ult_suspend(void)
{
	struct vm_ult *self = vm_self, *next;
	struct vm_worker *worker = self->worker;

	if (VM_UNLIKELY(worker->index < 0)) {
		if (self == &worker->root)
			thread_suspend(self);
		else
			step_suspend(self);
		return;
	}
	next = vm_worker_next_quick(worker);
	if (!next)
		next = vm_worker_next(worker);
	if (!next)
		next = next_await(worker);
	if (next != self)
		switch_to(self, next, VM_WHY_WAITS);
}

bool vm_ult_watch(const _Atomic uint32_t *word, uint32_t value)
{
	struct vm_worker *worker = vm_self->worker;
	bool observed, seen;

	/* Others need the processor of an OS thread and of crowded workers. */
	if (worker->index < 0 || vm_sched_crowded())
		return false;
	observed = vm_clocks_idle(worker);
	seen = vm_worker_watch(worker, word, value);
	vm_clocks_busy(observed);
	return seen;
}

/* Idles in the worker's own OS thread, which has nothing to run. */
static void root_idle(struct vm_worker *worker)
{
	bool observed = vm_clocks_idle(worker);

	vm_worker_idle(worker);
	vm_clocks_busy(observed);
}

void vm_ult_run_all(struct vm_worker *worker)
{
	struct vm_ult *next;

	while (!atomic_load_explicit(&vm_sched.stop, memory_order_acquire)) {
		vm_halt_stand(worker);
		next = vm_worker_next(worker);
		if (next)
			switch_to(&worker->root, next, VM_WHY_YIELDS);
		else
			root_idle(worker);
	}
}

void vm_ult_yield(void)
{
	struct vm_ult *self = vm_self, *next;
	struct vm_worker *worker = self->worker;

	if (worker->index < 0) {
		vm_thread_yield(worker);
		return;
	}
	vm_worker_push(worker, self);
	next = vm_worker_next(worker);
	if (next != self)
		switch_to(self, next, VM_WHY_YIELDS);
	else if (VM_UNLIKELY(vm_sched_contended()))
		vm_turn_yield(
			worker); /* what it waits for may need this core */
}

static bool found_look(void *arg)
{
	return vm_worker_found(arg);
}

bool vm_ult_poll(void)
{
	struct vm_worker *worker = vm_self->worker;

	if (worker->index < 0)
		return vm_thread_poll(worker);
	if (!worker->head && !worker->next) {
		if (vm_worker_found(worker))
			return false;
		if (VM_UNLIKELY(vm_sched_contended())) {
			if (vm_turn_poll(worker, found_look, worker))
				return false;
			vm_turn_yield(worker);
			vm_worker_found(worker);
		}
	} else {
		vm_ult_yield();
	}
	return true;
}

void vm_ult_sleep(uint64_t ns)
{
	struct vm_ult *self = vm_self;

	if (self && self->worker->index >= 0) {
		self->deadline = vm_clock_ns() + ns;
		if (self->deadline < ns)
			self->deadline = UINT64_MAX; /* for ever */
		vm_sleepers_add(self->worker, self);
		vm_ult_suspend();
	} else {
		struct timespec left = { .tv_sec = (time_t)(ns / 1000000000),
					 .tv_nsec = (long)(ns % 1000000000) };

		while (nanosleep(&left, &left) < 0 && errno == EINTR)
			;
	}
}

void vm_ult_alarm_set(struct vm_alarm *alarm, uint64_t deadline_ns)
{
	struct vm_ult *self = vm_self;

	VM_ASSERT(!vm_ult_alarm(self));
	self->deadline = deadline_ns;
	/* Read by other threads in quiet.c only. */
	atomic_store_explicit(&self->alarm, alarm, memory_order_relaxed);
	if (self->worker->index >= 0)
		vm_sleepers_add(self->worker, self);
}

void vm_ult_alarm_clear(void)
{
	struct vm_ult *self = vm_self;

	if (!vm_ult_alarm(self))
		return;
	if (self->worker->index >= 0)
		vm_sleepers_remove(self->worker, self);
	atomic_store_explicit(&self->alarm, NULL, memory_order_relaxed);
}

void vm_ult_ring(struct vm_ult *ult)
{
	struct vm_alarm *alarm = vm_ult_alarm(ult);

	atomic_store_explicit(&ult->alarm, NULL, memory_order_relaxed);
	alarm->ring(alarm);
}

_Noreturn void vm_ult_exit(int result)
{
	struct vm_ult *self = vm_self, *next;
	struct vm_worker *worker = self->worker;

	VM_ASSERT(self != &worker->root);
	self->result = result;
	next = worker->index < 0 ? NULL : vm_worker_next(worker);
	worker->zombie = self;
	switch_to(self, next ? next : &worker->root, VM_WHY_ENDS);
	vm_panic("a task that had ended was resumed");
}

int vm_ult_join(struct vm_ult *ult)
{
	uintptr_t alive = VM_ULT_ALIVE;
	int result;

	/* Pairs with the exchange in bury(). */
	if (atomic_compare_exchange_strong_explicit(
		    &ult->end, &alive, (uintptr_t)vm_self, memory_order_acq_rel,
		    memory_order_acquire))
		vm_ult_suspend();
	result = ult->result;
	ult_free(ult);
	return result;
}

bool vm_ult_end_watch(struct vm_ult *ult, struct vm_ult_end *end)
{
	uintptr_t alive = VM_ULT_ALIVE;

	/* Pairs with the exchange in bury(). */
	return atomic_compare_exchange_strong_explicit(&ult->end, &alive,
						       (uintptr_t)end + WATCHED,
						       memory_order_acq_rel,
						       memory_order_acquire);
}

bool vm_ult_end_unwatch(struct vm_ult *ult, struct vm_ult_end *end)
{
	uintptr_t watched = (uintptr_t)end + WATCHED;

	return atomic_compare_exchange_strong_explicit(&ult->end, &watched,
						       VM_ULT_ALIVE,
						       memory_order_acq_rel,
						       memory_order_acquire);
}

void vm_ult_detach(struct vm_ult *ult)
{
	if (atomic_exchange_explicit(&ult->end, VM_ULT_DETACHED,
				     memory_order_acq_rel) == VM_ULT_ENDED)
		ult_free(ult);
}
