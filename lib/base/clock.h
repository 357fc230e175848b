/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time: ticks for measuring, nanoseconds for people.
 *
 * Ticks are the cheapest monotonic counter there is (TSC or the generic timer
 * when they can be trusted, else CLOCK_MONOTONIC in ns).  vm_clock_init() must
 * have run before ticks are turned into nanoseconds.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct vm_clock {
	bool counter;	/* ticks come from the CPU's counter */
	double tick_ns; /* nanoseconds per tick */
	uint64_t tick0; /* ticks and CLOCK_MONOTONIC at the same moment */
	uint64_t ns0;
};

extern struct vm_clock vm_clock;

/* Finds out whether the counter is usable and how fast it runs.  Idempotent. */
void vm_clock_init(void);

/* CLOCK_MONOTONIC in nanoseconds: about 20 ns, never on the message path. */
static inline uint64_t vm_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t vm_clock_ticks(void)
{
#if defined(__x86_64__)
	if (vm_clock.counter)
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	if (vm_clock.counter) {
		uint64_t ticks;

		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	return vm_clock_ns();
}

/* The length in nanoseconds of a span of ticks. */
static inline uint64_t vm_clock_span_ns(uint64_t ticks)
{
	return (uint64_t)((double)ticks * vm_clock.tick_ns);
}

#endif
