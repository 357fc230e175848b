/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank time and core time: the arithmetic.
 *
 * Nigay, Mosimann, Schneider, Hoefler, "Communication and Timing Issues with
 * MPI Virtualization" (EuroMPI 2020): the process-POV clock R ticks while its
 * task runs (listing 2), the core-POV timer C while any task of the core runs
 * inside a section (listing 3).  The events are a task that is resumed or
 * suspended, a section that is entered or left.
 */
#ifndef INTROSPECT_MEASURE_TIMER_H
#define INTROSPECT_MEASURE_TIMER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The moment of an event, now, is an argument, so that all of this can be
 * tested. It may be any count that grows on a core, not time alone; readings of
 * two cores never meet in one difference, so the counts of cores need not agree
 * and a suspended task may move to another core.
 *
 * Two threads share only one word: R while the task is suspended, and while it
 * runs the moment at which R was 0, which differ in the lowest bit.  Any thread
 * can read it at any time; all else belongs to the task's core.
 */

/* The timer of a task.  All 0: R is 0, the task is suspended and in no
 * section. */
struct vm_timer {
	_Atomic uint64_t word; /* 63 bits: R, or now - R; 1 bit: running */
	uint64_t mark;	/* M: the time since which C has not been updated */
	uint32_t depth; /* sections the task is in */
	uint32_t user;	/* free for the code that embeds it */
};

/* The timer of a core. */
struct vm_timer_core {
	_Atomic uint64_t sum; /* C; written by the core, read by any thread */
};

#define VM_TIMER_RUNNING 1u

static inline bool vm_timer_runs(const struct vm_timer *timer)
{
	return atomic_load_explicit(&timer->word, memory_order_relaxed) &
	       VM_TIMER_RUNNING;
}

/* Turns R into now - R or the other way round; modulo 2 to the 63rd. */
static inline void vm_timer_turn(struct vm_timer *timer, uint64_t now,
				 unsigned running)
{
	uint64_t word =
		atomic_load_explicit(&timer->word, memory_order_relaxed);

	atomic_store_explicit(&timer->word,
			      ((now - (word >> 1)) << 1) | running,
			      memory_order_relaxed);
}

/* Adds the open time to the core's sum when a task stops being metered. */
static inline void vm_timer_core_add(struct vm_timer_core *core,
				     const struct vm_timer *timer, uint64_t now)
{
	uint64_t sum = atomic_load_explicit(&core->sum, memory_order_relaxed);

	atomic_store_explicit(&core->sum, sum + (now - timer->mark),
			      memory_order_relaxed);
}

/* on_proc_resume: the task, which was suspended, gets its core. */
static inline void vm_timer_resume(struct vm_timer *timer, uint64_t now)
{
	vm_timer_turn(timer, now, VM_TIMER_RUNNING);
	if (timer->depth)
		timer->mark = now;
}

/* on_proc_suspend: the task, which was running, leaves it. */
static inline void vm_timer_suspend(struct vm_timer *timer,
				    struct vm_timer_core *core, uint64_t now)
{
	vm_timer_turn(timer, now, 0);
	if (timer->depth)
		vm_timer_core_add(core, timer, now);
}

/* MPIX_Start_processor_timer by the task, which is running.  Sections nest:
 * only the outermost begins to count. */
static inline void vm_timer_enter(struct vm_timer *timer, uint64_t now)
{
	if (timer->depth++ == 0)
		timer->mark = now;
}

/* MPIX_Stop_processor_timer; false: the task is in no section, and nothing
 * happens. */
static inline bool vm_timer_leave(struct vm_timer *timer,
				  struct vm_timer_core *core, uint64_t now)
{
	if (timer->depth == 0)
		return false;
	if (--timer->depth == 0)
		vm_timer_core_add(core, timer, now);
	return true;
}

/* MPIX_Rtime by the task or its core. */
static inline uint64_t vm_timer_rank(const struct vm_timer *timer, uint64_t now)
{
	uint64_t word =
		atomic_load_explicit(&timer->word, memory_order_relaxed);

	return word & VM_TIMER_RUNNING ? (now - (word >> 1)) << 1 >> 1 :
					 word >> 1;
}

/* As vm_timer_rank(), by any other thread, which reads the time with read():
 * the value at some moment of this call. */
static inline uint64_t vm_timer_peek(const struct vm_timer *timer,
				     uint64_t (*read)(void))
{
	uint64_t word, now;

	do {
		word = atomic_load_explicit(&timer->word, memory_order_acquire);
		if (!(word & VM_TIMER_RUNNING))
			return word >> 1;
		now = read();
		/* The same word: the task has run all the while, or has not
		 * lost a tick. */
	} while (atomic_load_explicit(&timer->word, memory_order_acquire) !=
		 word);
	return (now - (word >> 1)) << 1 >> 1;
}

/*
 * MPIX_Ptime by the task, which is running: C, and the time that the caller's
 * own open section adds at this moment.  (Listing 3 leaves that out until the
 * caller is suspended or its section ends; then both are the same.)
 */
static inline uint64_t vm_timer_of_core(const struct vm_timer_core *core,
					const struct vm_timer *timer,
					uint64_t now)
{
	uint64_t sum = atomic_load_explicit(&core->sum, memory_order_relaxed);

	return timer->depth ? sum + (now - timer->mark) : sum;
}

#endif
