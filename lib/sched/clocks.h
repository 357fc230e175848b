/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank time and core time of ULTs and workers (introspect/measure/timer.h).
 *
 * Off until the first request or sched_rank_time switches them on: then each
 * switch reads the clock once, for the ULT that leaves and the one that comes.
 * A ULT runs from the moment it is switched to until it is switched away from
 * or can only wait; a wait that polls does not count as running.  Time before
 * the clocks were on is not known; for each ULT they begin when it is next
 * resumed, or asks.
 */
#ifndef SCHED_CLOCKS_H
#define SCHED_CLOCKS_H

#include "base/clock.h"
#include "introspect/measure/timer.h"
#include "sched/ult.h"
#include "sched/worker.h"

static inline unsigned vm_sched_observed(void)
{
	return atomic_load_explicit(&vm_sched.observed, memory_order_relaxed);
}

/* Switches the clocks on, for good.  Any thread. */
void vm_clocks_start(void);

/* Begins or ends to report switches and waits (vm_sched.observer).
 * Any thread. */
void vm_clocks_report(bool on);

/* For how many ticks the worker of the calling ULT has had nothing to run, since
 * the clocks are on. */
static inline uint64_t vm_clocks_idle_ticks(const struct vm_ult *self)
{
	return self->worker->idle_ticks;
}

/* Notes the switch from one ULT of a worker to another, while anything is
 * observed. */
static inline void vm_clocks_switch(struct vm_worker *worker,
				    struct vm_ult *from, struct vm_ult *to,
				    enum vm_why why)
{
	uint64_t now = vm_clock_ticks();

	if (VM_LIKELY(vm_timer_runs(&from->timer)))
		vm_timer_suspend(&from->timer, &worker->core_time, now);
	vm_timer_resume(&to->timer, now);
	if (VM_UNLIKELY(vm_sched_observed() & VM_OBSERVE_COUNTERS))
		vm_counters_switch(worker, from, to);
	if (VM_UNLIKELY(vm_sched_observed() & VM_OBSERVE_SWITCHES))
		vm_sched.observer->on_switch(worker, from, to, why, now);
}

/*
 * The calling ULT is about to wait without a switch.  Returns whether it ran
 * until now; if so, vm_clocks_resume() says that it runs again.
 */
bool vm_clocks_pause_slow(struct vm_ult *self);
void vm_clocks_resume(struct vm_ult *self);
static inline bool vm_clocks_pause(struct vm_ult *self)
{
	return VM_UNLIKELY(vm_sched_observed() != 0) &&
	       vm_clocks_pause_slow(self);
}

/*
 * As vm_clocks_pause(), on a worker with nothing to run, which counts as idle;
 * pass the result to vm_clocks_busy().
 */
bool vm_clocks_idle_slow(struct vm_worker *worker);
void vm_clocks_busy_slow(void);
static inline bool vm_clocks_idle(struct vm_worker *worker)
{
	return VM_UNLIKELY(vm_sched_observed() != 0) &&
	       vm_clocks_idle_slow(worker);
}

static inline void vm_clocks_busy(bool observed)
{
	if (VM_UNLIKELY(observed))
		vm_clocks_busy_slow();
}

/* Rank time of the calling ULT in ticks; switches the clocks on. */
uint64_t vm_clocks_self(struct vm_ult *self);
/* And the time; once they are on. */
uint64_t vm_clocks_self_now(struct vm_ult *self, uint64_t *now);

/* Rank time of any ULT that has not ended, for any thread.  0 until the clocks
 * have begun for it. */
uint64_t vm_clocks_of(const struct vm_ult *ult);

/*
 * Makes the calling ULT enter a section; leave it (false: it is in none); reads
 * the core time of its worker in ticks.  All switch the clocks on.
 */
void vm_clocks_enter(struct vm_ult *self);
bool vm_clocks_leave(struct vm_ult *self);
uint64_t vm_clocks_core(struct vm_ult *self);

#endif
