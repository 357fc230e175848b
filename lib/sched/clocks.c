/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the clocks that are not on the path of a switch.
 */
#include "sched/clocks.h"

#include "base/err.h"

void vm_clocks_start(void)
{
	/*
	 * A ULT whose clock has begun carries this change to its next worker by
	 * the hand-over itself; all others may see it late.
	 */
	atomic_fetch_or_explicit(&vm_sched.observed, VM_OBSERVE_CLOCKS,
				 memory_order_relaxed);
}

void vm_clocks_report(bool on)
{
	if (on)
		atomic_fetch_or_explicit(&vm_sched.observed,
					 VM_OBSERVE_CLOCKS |
						 VM_OBSERVE_SWITCHES,
					 memory_order_release);
	else
		atomic_fetch_and_explicit(&vm_sched.observed,
					  ~(unsigned)VM_OBSERVE_SWITCHES,
					  memory_order_relaxed);
}

/* The calling ULT's worker has nothing to run from now on, or has again. */
static void idle_report(bool idle, uint64_t now)
{
	struct vm_worker *worker = vm_self->worker;

	if (idle)
		worker->idle_from = now;
	else
		worker->idle_ticks += now - worker->idle_from;
	if (vm_sched_observed() & VM_OBSERVE_SWITCHES)
		vm_sched.observer->on_idle(vm_self, idle, now);
}

/* Shows ticks as a performance variable, once their length is known. */
static void ticks_show(uint64_t *pvar, uint64_t ticks)
{
	if (atomic_load_explicit(&vm_clock.ready, memory_order_acquire))
		__atomic_store_n(pvar, vm_clock_span_ns(ticks),
				 __ATOMIC_RELAXED);
}

static void core_show(struct vm_worker *worker)
{
	ticks_show(&worker->pvars.core_ns,
		   atomic_load_explicit(&worker->core_time.sum,
					memory_order_relaxed));
}

bool vm_clocks_pause_slow(struct vm_ult *self)
{
	uint64_t now;

	if (!vm_timer_runs(&self->timer))
		return false;
	now = vm_clock_ticks();
	vm_timer_suspend(&self->timer, &self->worker->core_time, now);
	if (vm_sched_observed() & VM_OBSERVE_COUNTERS)
		vm_counters_suspend(self);
	idle_report(true, now);
	return true;
}

void vm_clocks_resume(struct vm_ult *self)
{
	uint64_t now = vm_clock_ticks();

	if (vm_sched_observed() & VM_OBSERVE_COUNTERS)
		vm_counters_resume(self);
	idle_report(false, now);
	vm_timer_resume(&self->timer, now);
}

bool vm_clocks_idle_slow(struct vm_worker *worker)
{
	uint64_t now = vm_clock_ticks();

	if (vm_timer_runs(&vm_self->timer))
		vm_timer_suspend(&vm_self->timer, &worker->core_time, now);
	core_show(worker);
	if (vm_sched_observed() & VM_OBSERVE_COUNTERS)
		vm_counters_suspend(vm_self);
	idle_report(true, now);
	return true;
}

void vm_clocks_busy_slow(void)
{
	uint64_t now;

	if (vm_sched_observed() & VM_OBSERVE_COUNTERS)
		vm_counters_resume(vm_self);
	now = vm_clock_ticks();
	idle_report(false, now);
	vm_timer_resume(&vm_self->timer, now);
}

/* Ensures that the clocks are on and that of the calling ULT has begun; returns
 * the time. */
static uint64_t begin(struct vm_ult *self)
{
	uint64_t now;

	if (VM_UNLIKELY(!(vm_sched_observed() & VM_OBSERVE_CLOCKS)))
		vm_clocks_start();
	now = vm_clock_ticks();
	/* The time of an OS thread continues from what it was before vmpi knew
	 * of it. */
	if (VM_UNLIKELY(!vm_timer_runs(&self->timer)))
		vm_timer_resume(&self->timer,
				self->worker->index < 0 ? vm_clock.tick0 : now);
	return now;
}

uint64_t vm_clocks_self_now(struct vm_ult *self, uint64_t *now)
{
	*now = begin(self);
	return vm_timer_rank(&self->timer, *now);
}

uint64_t vm_clocks_self(struct vm_ult *self)
{
	uint64_t now;

	vm_clock_ready();
	return vm_clocks_self_now(self, &now);
}

uint64_t vm_clocks_of(const struct vm_ult *ult)
{
	return vm_timer_peek(&ult->timer, vm_clock_ticks);
}

void vm_clocks_enter(struct vm_ult *self)
{
	uint64_t now;

	vm_clock_ready();
	now = begin(self);
	if (vm_sched_observed() & VM_OBSERVE_COUNTERS)
		vm_counters_enter(self);
	vm_timer_enter(&self->timer, now);
}

bool vm_clocks_leave(struct vm_ult *self)
{
	struct vm_worker *worker = self->worker;

	if (self->timer.depth && vm_sched_observed() & VM_OBSERVE_COUNTERS)
		vm_counters_leave(self);
	if (!vm_timer_leave(&self->timer, &worker->core_time, vm_clock_ticks()))
		return false;
	core_show(worker);
	return true;
}

uint64_t vm_clocks_core(struct vm_ult *self)
{
	struct vm_worker *worker = self->worker;
	uint64_t now;

	vm_clock_ready();
	now = begin(self);
	core_show(worker);
	return vm_timer_of_core(&worker->core_time, &self->timer, now);
}
