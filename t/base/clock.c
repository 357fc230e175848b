/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock: never backwards, and ticks agree with nanoseconds.
 */
#include "base/clock.h"

#include <time.h>

#include "tap.h"

static void pause_ms(long ms)
{
	struct timespec time = { .tv_nsec = ms * 1000000 };

	nanosleep(&time, NULL);
}

/* Ticks over a sleep against CLOCK_MONOTONIC over the same, as a ratio. */
static double agreement(void)
{
	uint64_t ns = vm_clock_ns(), ticks = vm_clock_ticks();

	pause_ms(100);
	ticks = vm_clock_ticks() - ticks;
	ns = vm_clock_ns() - ns;
	return (double)vm_clock_span_ns(ticks) / (double)ns;
}

int main(void)
{
	struct vm_clock before;
	uint64_t last = 0, last_ticks = 0, ns;
	int back = 0;
	double ratio = 0;

	plan(6);
	vm_clock_init();
	diag("%s, %.6f ns per tick",
	     vm_clock.counter ? "the CPU's counter" : "CLOCK_MONOTONIC",
	     vm_clock.tick_ns);
	before = vm_clock;
	vm_clock_init();
	ok(before.tick_ns == vm_clock.tick_ns && before.ns0 == vm_clock.ns0,
	   "a second start changes nothing");
	ok(vm_clock.tick_ns > 0.01 && vm_clock.tick_ns < 1000,
	   "the rate is plausible");
	for (int i = 0; i < 100000; i++) {
		uint64_t now = vm_clock_ns(), ticks = vm_clock_ticks();

		back += now < last || ticks < last_ticks;
		last = now;
		last_ticks = ticks;
	}
	is_int(back, 0, "neither clock runs backwards");
	/* Somebody else may hold the processor between the two readings. */
	for (int i = 0; i < 5 && (ratio < 0.99 || ratio > 1.01); i++)
		ratio = agreement();
	is_double(ratio, 1.0, 0.01, "ticks agree with nanoseconds");
	is_int((intmax_t)vm_clock_span_ns(0), 0, "no ticks are no time");
	ns = vm_clock_ns();
	pause_ms(10);
	ok(vm_clock_ns() - ns >= 10000000, "10 ms are at least 10 ms");
	return done_testing();
}
