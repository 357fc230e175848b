/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rank time and core time cost at a switch: figures 3 and 4 of Nigay et
 * al. (2020), as percentiles.
 *
 * Two ULTs of one worker yield in turn.  Before each yield one times what
 * happens when a task is suspended, after it what happens when one is resumed,
 * on timers of its own: the same code as in the switch, the reading of the
 * clock included.  What the stop-watch itself takes, its median with nothing
 * between start and stop, is subtracted.  Last the whole switch, from the yield
 * of one ULT to the return of the other, without and with the clocks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "introspect/measure/timer.h"
#include "sched/clocks.h"
#include "sched/topo.h"
#include "sched/ult.h"
#include "sched/worker.h"

#define TICKS_MAX 8192 /* longer ones are counted in the last cell */

/* A distribution, in ticks. */
struct spread {
	unsigned cells[TICKS_MAX];
	unsigned long count;
	uint64_t max;
};

enum row {
	STOPWATCH,
	SUSPEND_RANK,
	RESUME_RANK,
	SUSPEND_CORE,
	RESUME_CORE,
	SWITCH_OFF,
	SWITCH_ON,
	SWITCH_SECTION,
	ROWS
};

static const char *const row_names[ROWS] = {
	[STOPWATCH] = "(stop-watch)",
	[SUSPEND_RANK] = "rank time, suspend",
	[RESUME_RANK] = "rank time, resume",
	[SUSPEND_CORE] = "both times, suspend",
	[RESUME_CORE] = "both times, resume",
	[SWITCH_OFF] = "switch, clocks off",
	[SWITCH_ON] = "switch, rank time",
	[SWITCH_SECTION] = "switch, both times",
};

static struct spread spreads[ROWS];
static long switches = 1000000;
static uint64_t left_at; /* when the other ULT yielded */
static struct vm_timer timers[2];
static struct vm_timer_core core;

/* Readings that nothing before or after them overtakes. */
static inline uint64_t watch(void)
{
	uint64_t now;

#if defined(__x86_64__)
	__builtin_ia32_lfence();
	now = vm_clock_ticks();
	__builtin_ia32_lfence();
#else
	__asm__ volatile("isb" ::: "memory");
	now = vm_clock_ticks();
#endif
	return now;
}

static void note(enum row row, uint64_t from, uint64_t to)
{
	struct spread *spread = &spreads[row];
	uint64_t took = to - from;

	spread->cells[took < TICKS_MAX ? took : TICKS_MAX - 1]++;
	spread->count++;
	if (took > spread->max)
		spread->max = took;
}

/* The ticks that a share of all did not exceed. */
static uint64_t percentile(const struct spread *spread, double share)
{
	unsigned long left = (unsigned long)((double)spread->count * share);

	for (uint64_t i = 0; i < TICKS_MAX; i++) {
		if (spread->cells[i] >= left)
			return i;
		left -= spread->cells[i];
	}
	return TICKS_MAX;
}

static void stopwatch_run(void)
{
	for (long i = 0; i < switches; i++) {
		uint64_t start = watch();

		note(STOPWATCH, start, watch());
	}
}

/* Each of two ULTs: the first row is that of suspending, the next of resuming.
 */
struct half {
	struct vm_timer *timer;
	enum row row;
};

static int logic_body(void *arg)
{
	struct half *half = arg;
	struct vm_timer *timer = half->timer;
	uint64_t start;

	vm_timer_resume(timer, vm_clock_ticks());
	if (half->row == SUSPEND_CORE)
		vm_timer_enter(timer, vm_clock_ticks());
	for (long i = 0; i < switches / 2; i++) {
		start = watch();
		vm_timer_suspend(timer, &core, vm_clock_ticks());
		note(half->row, start, watch());
		vm_ult_yield();
		start = watch();
		vm_timer_resume(timer, vm_clock_ticks());
		note(half->row + 1, start, watch());
	}
	return 0;
}

static int switch_body(void *arg)
{
	struct half *half = arg;

	if (half->row == SWITCH_SECTION)
		vm_clocks_enter(vm_self);
	left_at = 0;
	for (long i = 0; i < switches / 2; i++) {
		left_at = watch();
		vm_ult_yield();
		note(half->row, left_at, watch());
	}
	return 0;
}

static int pair_body(void *arg)
{
	static struct vm_stack_pool stacks;
	struct half halves[2];
	struct vm_ult *ults[2];
	enum row row = *(enum row *)arg;

	vm_stack_pool_init(&stacks, 65536, 0);
	memset(timers, 0, sizeof(timers));
	for (int i = 0; i < 2; i++) {
		halves[i] = (struct half){ &timers[i], row };
		if (vm_ult_new(&ults[i], vm_self->worker, &stacks,
			       row < SWITCH_OFF ? logic_body : switch_body,
			       &halves[i]))
			exit(1);
		vm_ult_wake(ults[i]);
	}
	for (int i = 0; i < 2; i++)
		vm_ult_join(ults[i]);
	vm_stack_pool_fini(&stacks);
	return 0;
}

static void pair_run(enum row row)
{
	static struct vm_stack_pool stacks;
	struct vm_ult *ult;

	vm_stack_pool_init(&stacks, 65536, 0);
	if (vm_ult_new(&ult, &vm_sched.workers[0], &stacks, pair_body, &row))
		exit(1);
	vm_ult_wake(ult);
	vm_ult_join(ult);
	vm_stack_pool_fini(&stacks);
}

static double net_ns(uint64_t ticks, uint64_t none)
{
	return ticks > none ? (double)(ticks - none) * vm_clock.tick_ns : 0;
}

static void table_print(void)
{
	uint64_t none = percentile(&spreads[STOPWATCH], 0.5);

	printf("%-22s %10s %7s %7s %7s %7s %10s   (ns)\n", "", "count", "P50",
	       "P90", "P99", "P99.9", "max");
	for (int row = 0; row < ROWS; row++) {
		const struct spread *s = &spreads[row];
		uint64_t off = row == STOPWATCH ? 0 : none;

		printf("%-22s %10lu %7.1f %7.1f %7.1f %7.1f %10.1f\n",
		       row_names[row], s->count,
		       net_ns(percentile(s, 0.5), off),
		       net_ns(percentile(s, 0.9), off),
		       net_ns(percentile(s, 0.99), off),
		       net_ns(percentile(s, 0.999), off), net_ns(s->max, off));
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		switches = strtol(argv[1], NULL, 10);
	if (argc > 2 || switches < 2) {
		fputs("clockcost: usage: clockcost [SWITCHES]\n", stderr);
		return 2;
	}
	if (vm_topo_init())
		return 1;
	vm_topo_plan(1);
	if (vm_sched_init(1) || vm_sched_start() || !vm_worker_adopt(NULL))
		return 1;
	vm_clock_ready();
	stopwatch_run();
	pair_run(SUSPEND_RANK);
	pair_run(SUSPEND_CORE);
	pair_run(SWITCH_OFF);
	vm_clocks_start();
	pair_run(SWITCH_ON);
	pair_run(SWITCH_SECTION);
	vm_worker_release(vm_self->worker);
	vm_sched_stop();
	vm_sched_fini();
	printf("%s, %.4f ns per tick (%s)\n",
	       vm_clock.counter ? "the CPU's counter" : "CLOCK_MONOTONIC",
	       vm_clock.tick_ns, vm_clock.why);
	table_print();
	return 0;
}
