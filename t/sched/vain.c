/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ULTs that only poll: their worker sleeps for moments, unless one of them gets
 * something or computes, or nobody else needs the processor, and what others
 * wake runs all the same.
 */
#include "sched/worker.h"

#include <unistd.h>

#include "base/lock.h"
#include "sched.h"
#include "sched/thread.h"

#define POLLERS 4
#define WAKES 300

static _Atomic bool enough;
static unsigned got_every;  /* polls of which one finds something; 0: none */
static uint64_t work_ticks; /* between two polls */
static bool alone;	    /* there is a processor for each worker */

static int poller(void *arg)
{
	int *polls = arg;

	while (!atomic_load_explicit(&enough, memory_order_relaxed)) {
		uint64_t start = vm_clock_ticks();

		while (vm_clock_ticks() - start < work_ticks)
			vm_cpu_relax();
		if (got_every && ++*polls % got_every == 0)
			vm_worker_got(vm_self->worker);
		else
			vm_worker_vain(vm_self->worker);
		vm_ult_yield();
	}
	return 0;
}

static uint64_t short_sleeps(void)
{
	return __atomic_load_n(&vm_sched.workers[0].pvars.short_sleeps,
			       __ATOMIC_RELAXED);
}

static void pollers_start(struct vm_ult **ults)
{
	static int polls[POLLERS];

	enough = false;
	sched_begin(2);
	vm_sched.crowded = !alone;
	vm_sched.processors = alone ? 2 : 0;
	for (int i = 0; i < POLLERS; i++)
		ults[i] = sched_new(0, poller, &polls[i]);
}

static void pollers_stop(struct vm_ult **ults)
{
	enough = true;
	for (int i = 0; i < POLLERS; i++)
		vm_ult_join(ults[i]);
	sched_end();
}

static int count(void *arg)
{
	++*(int *)arg;
	return 0;
}

static void test_short_sleeps(void)
{
	struct vm_ult *ults[POLLERS];
	int sum = 0;

	pollers_start(ults);
	while (short_sleeps() < 3)
		vm_ult_sleep(1000000);
	ok(true, "the worker of ULTs that poll in vain sleeps now and then");
	for (int i = 0; i < WAKES; i++)
		sched_call(count, &sum);
	is_int(sum, WAKES, "what is woken beside them runs");
	pollers_stop(ults);
}

static void test_no_short_sleeps(const char *who)
{
	struct vm_ult *ults[POLLERS];
	uint64_t slept;

	pollers_start(ults);
	/* This thread is none of those that need a processor. */
	vm_thread_away();
	slept = short_sleeps();
	usleep(50000);
	slept = short_sleeps() - slept;
	vm_thread_back();
	pollers_stop(ults);
	is_int((int)slept, 0, "it does not when %s", who);
}

int main(void)
{
#if defined(__SANITIZE_THREAD__)
	skip_all("instrumented polls are too slow to count as only polling");
#endif
	plan(5);
	test_short_sleeps();
	got_every = 50;
	test_no_short_sleeps("one poll in 50 finds something");
	got_every = 0;
	vm_clock_init();
	work_ticks = (uint64_t)(1000 / vm_clock.tick_ns);
	test_no_short_sleeps("they compute in between");
	work_ticks = 0;
	alone = true;
	test_no_short_sleeps("there is a processor for each worker");
	return done_testing();
}
