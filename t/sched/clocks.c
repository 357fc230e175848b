/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank time and core time of ULTs that really run, wait and move.
 *
 * How long anything takes is not known, but what lies inside what is: each part
 * of the work notes its own ticks, so the clocks must say at least that, and
 * together no more than what has passed.
 */
#include "sched/clocks.h"

#include <pthread.h>
#include <stdlib.h>

#include "sched.h"

#define TRIES 20 /* where the kernel may hold us up at the wrong moment */

/* Computes for a while; the ticks that it certainly took. */
static __attribute__((noinline)) uint64_t work(uint64_t us)
{
	uint64_t start = vm_clock_ticks(), now;

	do
		now = vm_clock_ticks();
	while (vm_clock_span_ns(now - start) < us * 1000);
	return now - start;
}

static __attribute__((noinline)) struct vm_ult *me(void)
{
	return vm_self;
}

static uint64_t rank_time(void)
{
	return vm_clocks_self(me());
}

static uint64_t core_time(void)
{
	return vm_clocks_core(me());
}

static int off_body(void *arg)
{
	(void)arg;
	work(100);
	vm_ult_yield();
	return vm_clocks_of(me()) == 0 && vm_sched_observed() == 0;
}

static int first_body(void *arg)
{
	uint64_t first = rank_time(), worked = work(100);

	(void)arg;
	return rank_time() - first >= worked && vm_sched_observed() != 0;
}

/* ULTs of one worker that compute and yield in turn. */
#define SHARERS 4
static struct sharer {
	uint64_t worked, before, after, sections;
	bool metered;
} sharers[SHARERS];

static int sharer_body(void *arg)
{
	struct sharer *sharer = arg;

	sharer->before = rank_time();
	for (int i = 0; i < 20; i++) {
		if (sharer->metered)
			vm_clocks_enter(me());
		sharer->worked += work(50);
		vm_ult_yield();
		sharer->worked += work(50);
		if (sharer->metered && !vm_clocks_leave(me()))
			return 1;
		vm_ult_yield();
	}
	sharer->after = rank_time();
	return 0;
}

static int share_body(void *arg)
{
	struct vm_ult *ults[SHARERS];
	uint64_t start = vm_clock_ticks(), core = core_time(), passed;
	uint64_t sum = 0, metered = 0, worked = 0;
	int least = 0, mine = 0, bad = 0;

	(void)arg;
	for (int i = 0; i < SHARERS; i++) {
		sharers[i] = (struct sharer){ .metered = i % 2 };
		ults[i] = sched_new(0, sharer_body, &sharers[i]);
	}
	for (int i = 0; i < SHARERS; i++)
		bad += vm_ult_join(ults[i]);
	for (int i = 0; i < SHARERS; i++)
		worked += sharers[i].worked;
	passed = vm_clock_ticks() - start;
	core = core_time() - core;
	is_int(bad, 0, "each section can be left");
	for (int i = 0; i < SHARERS; i++) {
		const struct sharer *s = &sharers[i];
		uint64_t ran = s->after - s->before;

		least += ran >= s->worked;
		mine += ran <= passed - (worked - s->worked);
		sum += ran;
		metered += s->metered ? ran : 0;
	}
	is_int(least, SHARERS, "rank time is at least what each computed");
	ok(sum <= passed, "of all ranks of a core it is no more than passed");
	is_int(mine, SHARERS, "and excludes what the others computed");
	ok(core <= metered, "core time is no more than what its ranks ran");
	ok(core >= sharers[1].worked + sharers[3].worked,
	   "and at least what they computed in sections");
	return 0;
}

/* Waits with no other ULT to run. */
static int wait_body(void *arg)
{
	uint64_t idle = vm_self->worker->pvars.idle_ns, least = UINT64_MAX;
	bool inside = true;

	(void)arg;
	for (int i = 0; i < TRIES && least > 0; i++) {
		uint64_t start = vm_clock_ticks(), ran = rank_time(), passed;

		vm_clocks_enter(me());
		vm_ult_sleep(2000000);
		vm_clocks_leave(me());
		ran = rank_time() - ran;
		passed = vm_clock_ticks() - start;
		inside &= ran <= passed;
		least = ran < passed / 2 ? 0 : ran;
	}
	ok(inside, "what passes while a rank waits is no less than it ran");
	is_int((intmax_t)least, 0, "a rank that waits does not run");
	ok(vm_self->worker->pvars.idle_ns > idle, "its worker was idle");
	return 0;
}

/* Sections that are nested, left without being entered, and left open. */
static int nest_body(void *arg)
{
	uint64_t core = core_time(), worked;

	(void)arg;
	ok(!vm_clocks_leave(me()), "a section nobody entered cannot be left");
	vm_clocks_enter(me());
	vm_clocks_enter(me());
	worked = work(50);
	ok(core_time() - core >= worked, "an open section counts up to now");
	vm_clocks_leave(me());
	worked += work(50);
	vm_clocks_leave(me());
	ok(core_time() - core >= worked, "the outer of two sections counts on");
	core = core_time();
	work(50);
	ok(core_time() == core, "outside of sections nothing counts");
	return 0;
}

static int open_body(void *arg)
{
	vm_clocks_enter(me());
	*(uint64_t *)arg = work(50);
	return 0;
}

static int left_body(void *arg)
{
	uint64_t core = core_time(), worked = 0;

	(void)arg;
	vm_ult_join(sched_new(0, open_body, &worked));
	ok(core_time() - core >= worked,
	   "a section that its task leaves open ends with it");
	core = core_time();
	work(50);
	ok(core_time() == core, "and no later");
	return 0;
}

/* A ULT that is moved to another worker while it is suspended. */
static struct {
	struct vm_ult *ult;
	bool waits;
	uint64_t worked[2], ran[2], core[2];
} mover;

static int move_body(void *arg)
{
	(void)arg;
	mover.ran[0] = rank_time();
	vm_clocks_enter(me());
	mover.worked[0] = work(200);
	mover.waits = true;
	vm_ult_suspend();
	mover.core[1] = core_time();
	mover.worked[1] = work(300);
	vm_clocks_leave(me());
	mover.core[1] = core_time() - mover.core[1];
	mover.ran[1] = rank_time();
	return 0;
}

/* Runs on worker 0, so the other one is suspended whenever this runs. */
static int move_checks(void *arg)
{
	uint64_t start = vm_clock_ticks(), core = core_time(), ran;

	(void)arg;
	mover.ult = sched_new(0, move_body, NULL);
	while (!mover.waits)
		vm_ult_yield();
	ran = core_time() - core;
	ok(ran >= mover.worked[0], "the first worker has what ran there");
	ok(vm_clocks_of(mover.ult) >= mover.worked[0],
	   "so has the rank, which anybody can see");
	mover.ult->worker = &vm_sched.workers[1];
	vm_ult_wake(mover.ult);
	vm_ult_join(mover.ult);
	ok(core_time() - core == ran, "and gets no more of a rank that moved");
	ok(mover.core[1] >= mover.worked[1],
	   "the second worker has what ran there");
	ran = mover.ran[1] - mover.ran[0];
	ok(ran >= mover.worked[0] + mover.worked[1] &&
		   ran <= vm_clock_ticks() - start,
	   "the rank has both");
	return 0;
}

static int nap_body(void *arg)
{
	vm_ult_sleep(*(uint64_t *)arg);
	return 0;
}

/* An OS thread: its own time, without its waits. */
static void thread_checks(void)
{
	uint64_t ns = 5000000, before, least = UINT64_MAX;

	before = rank_time();
	before = work(50) <= rank_time() - before;
	ok(before, "an OS thread has a clock of its own");
	for (int i = 0; i < TRIES && least > 0; i++) {
		uint64_t start = vm_clock_ticks(), ran = rank_time();

		vm_ult_join(sched_new(0, nap_body, &ns));
		ran = rank_time() - ran;
		least = ran < (vm_clock_ticks() - start) / 2 ? 0 : ran;
	}
	is_int((intmax_t)least, 0, "which stands while it waits");
	before = core_time();
	vm_clocks_enter(me());
	before += work(50);
	vm_clocks_leave(me());
	ok(core_time() >= before, "and it is a core of its own");
}

int main(void)
{
	vm_clock_ready();
	sched_begin(2);
	is_int(sched_call(off_body, NULL), 1, "nobody asks, nothing is noted");
	is_int(sched_call(first_body, NULL), 1, "rank time begins when asked");
	sched_call(share_body, NULL);
	sched_call(wait_body, NULL);
	sched_call(nest_body, NULL);
	sched_call(left_body, NULL);
	sched_call(move_checks, NULL);
	thread_checks();
	sched_end();
	return done_testing();
}
