/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coming to a halt.
 *
 * `arrived` counts the workers that stand still.  While it is below the number
 * of workers a worker may leave again, by taking itself out of the count; none
 * can once it is full.  So either all stand, or those that have waited long
 * enough continue.
 */
#include "sched/halt.h"

#include "base/clock.h"
#include "base/lock.h"
#include "sched/futex.h"
#include "sched/sleepers.h"
#include "sched/worker.h"

#define STAND_NS 1000000 /* an idle worker looks for work after this */
#define WAIT_NS 2000000	 /* a busy worker waits so long in all */

static uint32_t everybody(void)
{
	return (uint32_t)vm_sched.worker_count;
}

static void nudge_all(void)
{
	for (int i = 0; i < vm_sched.worker_count; i++)
		vm_worker_nudge(&vm_sched.workers[i]);
}

bool vm_halt_ask(void)
{
	struct vm_halt *halt = &vm_sched.halt;
	uint32_t no = 0;

	atomic_fetch_add_explicit(&halt->asked, 1, memory_order_relaxed);
	if (!atomic_compare_exchange_strong_explicit(&halt->wanted, &no, 1,
						     memory_order_release,
						     memory_order_relaxed))
		return false;
	nudge_all();
	return true;
}

void vm_halt_cancel(void)
{
	atomic_store_explicit(&vm_sched.halt.wanted, 0, memory_order_relaxed);
}

bool vm_halt_look(struct vm_worker *worker)
{
	if (VM_LIKELY(!atomic_load_explicit(&vm_sched.halt.wanted,
					    memory_order_relaxed)))
		return false;
	if (vm_self == &worker->root)
		return true;
	if (worker->halting)
		return false;
	worker->halting = true;
	if (worker->next)
		vm_worker_push(worker, worker->next);
	worker->next = &worker->root;
	worker->handoffs = 0;
	return false;
}

static bool is_full(void)
{
	/* Pairs with the exchanges in arrive(). */
	return atomic_load_explicit(&vm_sched.halt.arrived,
				    memory_order_acquire) == everybody();
}

/* Takes the worker out of the count; false: all have come. */
static bool leave(void)
{
	_Atomic uint32_t *arrived = &vm_sched.halt.arrived;
	uint32_t n = atomic_load_explicit(arrived, memory_order_acquire);

	while (n != everybody())
		if (atomic_compare_exchange_weak_explicit(arrived, &n, n - 1,
							  memory_order_acq_rel,
							  memory_order_acquire))
			return true;
	return false;
}

/* Sleeps until it is woken, which the last to arrive does. */
static void stand_sleep(struct vm_worker *worker, uint64_t ns)
{
	atomic_store_explicit(&worker->sleeping, 1, memory_order_relaxed);
	vm_sched_fence_all();
	if (!is_full() && !vm_worker_collect(worker))
		vm_futex_wait(&worker->sleeping, 1, ns);
	atomic_store_explicit(&worker->sleeping, 0, memory_order_relaxed);
}

/* Waits for the others; returns whether all came in time. */
static bool stand_wait(struct vm_worker *worker)
{
	uint64_t start = vm_clock_ns(), now = start;
	bool idle = !worker->head && !worker->next;
	uint64_t limit = idle ? STAND_NS : worker->halt_ns_left;

	while (!is_full() && now - start < limit) {
		stand_sleep(worker, limit - (now - start));
		if (idle && (worker->head || worker->next))
			break;
		now = vm_clock_ns();
	}
	if (!idle)
		worker->halt_ns_left -= now - start < limit ? now - start :
							      limit;
	return !leave();
}

/* Adds the worker to those that stand; returns whether all do. */
static bool arrive(struct vm_worker *worker)
{
	struct vm_halt *halt = &vm_sched.halt;
	uint32_t last = everybody() - 1;

	if ((worker->head || worker->next) && !worker->halt_ns_left) {
		/* It has waited long enough: join only if it is the last
		 * one. */
		if (!atomic_compare_exchange_strong_explicit(
			    &halt->arrived, &last, last + 1,
			    memory_order_acq_rel, memory_order_relaxed))
			return false;
		nudge_all();
		return true;
	}
	if (atomic_fetch_add_explicit(&halt->arrived, 1,
				      memory_order_acq_rel) == last) {
		nudge_all();
		return true;
	}
	return stand_wait(worker);
}

/* Tells all that the halt is over; all are ready. */
static void finish(struct vm_halt *halt)
{
	halt->act();
	atomic_store_explicit(&halt->ready, 0, memory_order_relaxed);
	atomic_store_explicit(&halt->arrived, 0, memory_order_relaxed);
	atomic_store_explicit(&halt->wanted, 0, memory_order_relaxed);
	/* Pairs with the loads of those that wait for it. */
	atomic_fetch_add_explicit(&halt->ended, 1, memory_order_release);
}

void vm_halt_stand(struct vm_worker *worker)
{
	struct vm_halt *halt = &vm_sched.halt;
	uint32_t ended, asked;

	worker->halting = false;
	if (!atomic_load_explicit(&halt->wanted, memory_order_acquire))
		return;
	ended = atomic_load_explicit(&halt->ended, memory_order_acquire);
	asked = atomic_load_explicit(&halt->asked, memory_order_relaxed);
	if (worker->halt_asked != asked) {
		worker->halt_asked = asked;
		worker->halt_ns_left = WAIT_NS;
	}
	if (!arrive(worker))
		return;
	halt->prepare(worker);
	if (atomic_fetch_add_explicit(&halt->ready, 1, memory_order_acq_rel) +
		    1 ==
	    everybody()) {
		finish(halt);
		return;
	}
	while (atomic_load_explicit(&halt->ended, memory_order_acquire) ==
	       ended)
		vm_cpu_yield();
}

/* Moves the ULTs of the run queue whose worker has changed. */
static void queue_rehome(struct vm_worker *worker)
{
	struct vm_ult *ult = worker->head, *next;

	worker->head = worker->tail = NULL;
	for (; ult; ult = next) {
		next = ult->next;
		vm_worker_push(ult->worker, ult);
	}
	ult = worker->next;
	if (ult && ult->worker != worker) {
		worker->next = NULL;
		vm_worker_push(ult->worker, ult);
	}
}

static void sleepers_rehome(struct vm_worker *worker)
{
	struct vm_ult *list = NULL, *ult;

	while ((ult = vm_sleepers_take(worker))) {
		ult->next = list;
		list = ult;
	}
	while ((ult = list)) {
		list = ult->next;
		vm_sleepers_add(ult->worker, ult);
	}
}

void vm_halt_rehome(void)
{
	for (int i = 0; i < vm_sched.worker_count; i++)
		vm_worker_inbox(&vm_sched.workers[i]);
	for (int i = 0; i < vm_sched.worker_count; i++) {
		queue_rehome(&vm_sched.workers[i]);
		sleepers_rehome(&vm_sched.workers[i]);
	}
}
