/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time: ticks for measuring, nanoseconds for people.
 *
 * Ticks are the cheapest monotonic counter there is: the CPU's own (TSC or the
 * generic timer) when it can be trusted, else CLOCK_MONOTONIC in ns.
 * vm_clock_start() decides which; ticks can be converted to nanoseconds once
 * vm_clock_ready() knows their length.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/err.h"
#include "base/lock.h"

/* Choices of a source; the words of the control variable sched_clock. */
enum vm_clock_choice {
	VM_CLOCK_AUTO,	  /* the counter when it can be trusted */
	VM_CLOCK_COUNTER, /* the counter when its rate is fixed */
	VM_CLOCK_MONOTONIC,
};

/* A moment on both clocks. */
struct vm_clock_pair {
	uint64_t ticks, ns;
};

/* Written by vm_clock_start(), and once more when the rate is known. */
struct vm_clock {
	bool counter;	    /* ticks come from the CPU's counter */
	_Atomic bool ready; /* tick_ns is final */
	double tick_ns;	    /* nanoseconds per tick, after vm_clock_ready() */
	uint64_t tick0;	    /* the beginning of vm_clock_seconds() */
	char why[128];	    /* the reason for the choice, for people */
	/* Private to clock.c: */
	struct vm_lock lock;
	bool chosen;
	enum vm_clock_choice choice;
	struct vm_clock_pair first; /* when the source was chosen */
	uint64_t origin_ns;	    /* CLOCK_MONOTONIC at tick0 */
};

extern struct vm_clock vm_clock;

/*
 * Chooses the source of ticks.  Does nothing if the same was chosen before;
 * with another choice vm_clock_seconds() continues, but older ticks lose their
 * meaning.  Call while no other thread takes the time.
 */
void vm_clock_start(enum vm_clock_choice choice);

/* vm_clock_start(VM_CLOCK_AUTO), unless a source was chosen already. */
void vm_clock_init(void);

/*
 * Waits until the length of a tick is known to one part in 100 000, for which
 * the counter must be compared with CLOCK_MONOTONIC for 10 ms from the start
 * on.  Chooses a source if none was chosen.  Any thread.
 */
void vm_clock_ready_slow(void);
static inline void vm_clock_ready(void)
{
	/* Pairs with the store in clock.c, calibrate(). */
	if (VM_UNLIKELY(!atomic_load_explicit(&vm_clock.ready,
					      memory_order_acquire)))
		vm_clock_ready_slow();
}

/* CLOCK_MONOTONIC in nanoseconds: about 20 ns, never on the message path. */
static inline uint64_t vm_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Reads the CPU's counter, whether it can be trusted or not; 0: there is
 * none. */
static inline uint64_t vm_clock_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0;
#endif
}

static inline uint64_t vm_clock_ticks(void)
{
	return VM_LIKELY(vm_clock.counter) ? vm_clock_counter() : vm_clock_ns();
}

/* Reads both clocks at one moment: of several readings the quickest. */
struct vm_clock_pair vm_clock_look(void);

/* The length in nanoseconds of a span of ticks, after vm_clock_ready(). */
static inline uint64_t vm_clock_span_ns(uint64_t ticks)
{
	return (uint64_t)((double)ticks * vm_clock.tick_ns);
}

/* The length of a span of ticks in seconds, after vm_clock_ready(). */
static inline double vm_clock_span(uint64_t ticks)
{
	return (double)(int64_t)ticks * vm_clock.tick_ns * 1e-9;
}

/* Seconds since some moment before the first call in this process. */
static inline double vm_clock_seconds(void)
{
	vm_clock_ready();
	return vm_clock_span(vm_clock_ticks() - vm_clock.tick0);
}

#endif
