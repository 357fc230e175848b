/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock: never backwards, ticks agree with nanoseconds, and processors
 * whose counters differ are found out.
 */
#include "base/clock.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/clock_cores.h"
#include "tap.h"

static void pause_ms(long ms)
{
	struct timespec time = { .tv_nsec = ms * 1000000 };

	nanosleep(&time, NULL);
}

/* The largest deviation of CLOCK_MONOTONIC's rate while it is being
 * adjusted. */
#define SLEW 6e-4

/* Ticks over a sleep against CLOCK_MONOTONIC over the same, as a ratio. */
static double agreement(void)
{
	struct vm_clock_pair from = vm_clock_look(), to;

	pause_ms(500);
	to = vm_clock_look();
	return (double)(to.ticks - from.ticks) * vm_clock.tick_ns /
	       (double)(to.ns - from.ns);
}

static double drift(void)
{
	double worst = 1, now;

	/* Another program may hold the processor during all readings. */
	for (int i = 0; i < 5 && worst > SLEW; i++) {
		now = agreement() - 1;
		now = now < 0 ? -now : now;
		worst = now < worst ? now : worst;
	}
	return worst;
}

static void source_checks(void)
{
	uint64_t last = 0, last_ticks = 0;
	int back = 0;

	for (int i = 0; i < 100000; i++) {
		uint64_t now = vm_clock_ns(), ticks = vm_clock_ticks();

		back += now < last || ticks < last_ticks;
		last = now;
		last_ticks = ticks;
	}
	is_int(back, 0, "neither clock runs backwards");
}

/* A counter that loses a step each time it is read. */
static _Atomic uint64_t falling = 1000000;

static uint64_t falling_read(void)
{
	return atomic_fetch_sub(&falling, 1);
}

static uint64_t rising_read(void)
{
	return atomic_fetch_add(&falling, 1);
}

static void cores_checks(void)
{
	int agree = vm_clock_cores_agree(rising_read), falls = 0;

	ok(agree >= 0, "processors agree about a counter they share (%d)",
	   agree);
	/* On a busy machine no processor may answer in time. */
	for (int i = 0; i < 20 && falls == 0; i++)
		falls = vm_clock_cores_agree(falling_read);
	if (falls)
		is_int(falls, -1,
		       "a reading before the one it follows is found out");
	else
		skip(1, "no processor answers in time");
}

static void choice_checks(void)
{
	double before, after;

	before = vm_clock_seconds();
	vm_clock_start(VM_CLOCK_MONOTONIC);
	ok(!vm_clock.counter, "CLOCK_MONOTONIC can be asked for");
	ok(strstr(vm_clock.why, "sched_clock") != NULL, "and says so: %s",
	   vm_clock.why);
	source_checks();
	ok(vm_clock.tick_ns == 1.0, "its ticks are nanoseconds");
	after = vm_clock_seconds();
	vm_clock_start(VM_CLOCK_COUNTER);
	ok(after >= before && vm_clock_seconds() >= after,
	   "the seconds go on through both changes");
}

int main(void)
{
	double before, rate;
	uint64_t ns;

	before = vm_clock_seconds();
	ok(before >= 0 && vm_clock_seconds() >= before,
	   "seconds can be asked for at once");
	diag("%s: %s",
	     vm_clock.counter ? "the CPU's counter" : "CLOCK_MONOTONIC",
	     vm_clock.why);
	rate = vm_clock.tick_ns;
	vm_clock_init();
	vm_clock_start(VM_CLOCK_AUTO);
	ok(rate == vm_clock.tick_ns && vm_clock_seconds() >= before,
	   "a second start changes nothing");
	ok(rate > 0.01 && rate < 1000, "the rate is plausible: %.6f ns", rate);
	source_checks();
	rate = drift();
	ok(rate < SLEW, "ticks drift by %.1e from nanoseconds", rate);
	is_int((intmax_t)vm_clock_span_ns(0), 0, "no ticks are no time");
	ns = vm_clock_ns();
	pause_ms(10);
	ok(vm_clock_ns() - ns >= 10000000, "10 ms are at least 10 ms");
	cores_checks();
	choice_checks();
	return done_testing();
}
