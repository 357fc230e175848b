/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ULTs: in which order they run, how they wait for each other, what is private
 * to each.
 */
#include "sched/ult.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched.h"

/* The ULTs that ran, one letter each. */
static char trace[256];
static int traced;

static void trace_add(int letter)
{
	trace[traced++] = (char)letter;
	trace[traced] = '\0';
}

static void trace_clear(void)
{
	traced = 0;
	trace[0] = '\0';
}

static int yielder(void *arg)
{
	for (int i = 0; i < 3; i++) {
		trace_add(*(char *)arg);
		vm_ult_yield();
	}
	return 0;
}

static int yield_body(void *arg)
{
	struct vm_ult *ults[3];

	(void)arg;
	trace_clear();
	for (int i = 0; i < 3; i++)
		ults[i] = sched_new(0, yielder, &"abc"[i]);
	is_string(trace, "", "a new ULT does not run at once");
	for (int i = 0; i < 3; i++)
		vm_ult_join(ults[i]);
	is_string(trace, "abcabcabc", "ULTs that yield take turns");
	vm_ult_yield();
	ok(true, "a yield with nobody else returns");
	return 0;
}

static int sleeper(void *arg)
{
	for (int i = 0; i < 3; i++) {
		vm_ult_suspend();
		trace_add(*(char *)arg);
	}
	return 0;
}

static int wake_body(void *arg)
{
	struct vm_ult *ults[3];

	(void)arg;
	trace_clear();
	for (int i = 0; i < 3; i++)
		ults[i] = sched_new(0, sleeper, &"abc"[i]);
	vm_ult_yield();
	is_string(trace, "", "suspended ULTs do not run");
	for (int i = 2; i >= 0; i--)
		vm_ult_wake(ults[i]);
	vm_ult_yield();
	is_string(trace, "cba", "woken ones run in the order they were woken");
	vm_ult_wake(ults[0]);
	vm_ult_wake(ults[1]);
	vm_ult_wake_next(ults[2]);
	vm_ult_yield();
	is_string(trace, "cbacab", "one that is next goes first");
	vm_ult_wake_next(ults[0]);
	vm_ult_wake_next(ults[1]);
	vm_ult_wake(ults[2]);
	vm_ult_yield();
	is_string(trace, "cbacabbac", "of two the later one, then the queue");
	for (int i = 0; i < 3; i++)
		vm_ult_join(ults[i]);
	vm_ult_wake(vm_self);
	vm_ult_suspend();
	ok(true, "a wake that comes first is not lost");
	return 0;
}

static int giver(void *arg)
{
	vm_ult_yield();
	return (int)(intptr_t)arg;
}

static int leaver(void *arg)
{
	vm_ult_exit((int)(intptr_t)arg);
}

static int endings;

static void count_ending(void)
{
	endings++;
}

static int join_body(void *arg)
{
	struct vm_ult *ult = sched_new(0, giver, (void *)(intptr_t)7);

	(void)arg;
	is_int(vm_ult_join(ult), 7, "join waits and hands out the result");
	ult = sched_new(0, giver, (void *)(intptr_t)8);
	for (int i = 0; i < 4; i++)
		vm_ult_yield();
	is_int(vm_ult_join(ult), 8, "the end may have been before");
	ult = sched_new(0, leaver, (void *)(intptr_t)-3);
	is_int(vm_ult_join(ult), -3, "a ULT may end inside a function");
	ult = sched_new(0, giver, NULL);
	ult->on_end = count_ending;
	vm_ult_detach(ult);
	is_int(endings, 0, "detaching does not wait");
	for (int i = 0; i < 4; i++)
		vm_ult_yield();
	is_int(endings, 1, "a detached ULT runs to its end");
	ult = sched_new(0, giver, NULL);
	ult->on_end = count_ending;
	for (int i = 0; i < 4; i++)
		vm_ult_yield();
	vm_ult_detach(ult);
	is_int(endings, 2, "one can detach what has ended");
	return 0;
}

#define NAPPERS 100

static uint64_t woken[NAPPERS];
static int woken_count, early;

static int napper(void *arg)
{
	uint64_t ns = (uint64_t)(uintptr_t)arg, start = vm_clock_ns();

	vm_ult_sleep(ns);
	early += vm_clock_ns() - start < ns;
	woken[woken_count++] = vm_self->deadline;
	return 0;
}

static int sleep_body(void *arg)
{
	struct vm_ult *ults[NAPPERS];
	uint64_t start = vm_clock_ns();
	unsigned random = 1;
	int wrong = 0;

	(void)arg;
	for (int i = 0; i < NAPPERS; i++) {
		random = random * 1664525u + 1013904223u;
		ults[i] = sched_new(0, napper,
				    (void *)(uintptr_t)(random >> 16) +
					    (uintptr_t)(i % 7) * 10000000);
	}
	for (int i = 0; i < NAPPERS; i++)
		vm_ult_join(ults[i]);
	is_int(woken_count, NAPPERS, "all who sleep wake");
	is_int(early, 0, "nobody wakes early");
	for (int i = 1; i < NAPPERS; i++)
		wrong += woken[i] < woken[i - 1];
	is_int(wrong, 0, "they wake in the order of their times");
	ok(vm_clock_ns() - start < 2000000000, "and they sleep side by side");
	return 0;
}

static int busy;

static int spinner(void *arg)
{
	(void)arg;
	while (busy)
		vm_ult_yield();
	return 0;
}

static int sleep_busy_body(void *arg)
{
	struct vm_ult *ult;
	uint64_t start = vm_clock_ns();

	(void)arg;
	busy = 1;
	ult = sched_new(0, spinner, NULL);
	vm_ult_sleep(5000000);
	ok(vm_clock_ns() - start < 2000000000,
	   "who sleeps is not forgotten while others run");
	busy = 0;
	return vm_ult_join(ult);
}

static int errno_wrong;

static int errno_user(void *arg)
{
	int mine = (int)(intptr_t)arg;

	errno_wrong += errno != 0;
	for (int i = 0; i < 10; i++) {
		errno = mine + i;
		vm_ult_yield();
		errno_wrong += errno != mine + i;
	}
	return 0;
}

static int errno_body(void *arg)
{
	struct vm_ult *ults[5];

	(void)arg;
	errno = 12345;
	for (int i = 0; i < 5; i++)
		ults[i] = sched_new(0, errno_user,
				    (void *)(intptr_t)(100 * i + 1));
	for (int i = 0; i < 5; i++)
		vm_ult_join(ults[i]);
	is_int(errno_wrong, 0, "each ULT has its own errno, 0 at first");
	is_int(errno, 12345, "and so has who waits for them");
	return 0;
}

/* Two that hand over to each other forever, and a third. */
static struct vm_ult *pair[2];
static int swaps, swaps_ended, thirds;
static bool swapping;

static int swapper(void *arg)
{
	int me = (int)(intptr_t)arg;

	while (swapping) {
		swaps++;
		vm_ult_wake_next(pair[!me]);
		vm_ult_suspend();
	}
	/* The other one waits; it shall end as well. */
	if (!swaps_ended++)
		vm_ult_wake(pair[!me]);
	return 0;
}

static int handoff_body(void *arg)
{
	(void)arg;
	swapping = true;
	pair[0] = sched_new(0, swapper, (void *)0);
	/* The second is started by the first. */
	if (vm_ult_new(&pair[1], vm_self->worker, &sched_stacks, swapper,
		       (void *)1))
		bail("no ULT");
	for (thirds = 0; thirds < 1000; thirds++)
		vm_ult_yield();
	ok(swaps >= 1000, "those who hand over get on (%d times)", swaps);
	ok(swaps <= 10000, "but do not starve a third (%d of its turns)",
	   thirds);
	swapping = false;
	vm_ult_join(pair[0]);
	vm_ult_join(pair[1]);
	return 0;
}

/* Tokens wander between ULTs of several workers. */
#define WALKERS 12
#define STEPS 20000

static struct vm_ult *walkers[WALKERS];
static _Atomic int steps, started;

static int walker(void *arg)
{
	int me = (int)(intptr_t)arg, at;

	/* Pairs with the load in test_walk(). */
	atomic_fetch_add_explicit(&started, 1, memory_order_release);
	do {
		vm_ult_suspend();
		at = atomic_fetch_add_explicit(&steps, 1, memory_order_relaxed);
		/* None is left for the last one. */
		if (at < STEPS + WALKERS - 1)
			vm_ult_wake(walkers[(me + 1) % WALKERS]);
	} while (at < STEPS);
	return at;
}

static void test_walk(int workers)
{
	int last = 0;

	steps = started = 0;
	sched_begin(workers);
	for (int i = 0; i < WALKERS; i++)
		if (vm_ult_new(&walkers[i], &vm_sched.workers[i % workers],
			       &sched_stacks, walker, (void *)(intptr_t)i))
			bail("no ULT");
	for (int i = 0; i < WALKERS; i++)
		vm_ult_wake(walkers[i]);
	/* Only one that has started may be woken again. */
	while (atomic_load_explicit(&started, memory_order_acquire) < WALKERS)
		vm_ult_sleep(1000000);
	vm_ult_wake(walkers[0]);
	for (int i = 0; i < WALKERS; i++) {
		int at = vm_ult_join(walkers[i]);

		last = at > last ? at : last;
	}
	is_int(last, STEPS + WALKERS - 1,
	       "a token goes round %d ULTs on %d workers", WALKERS, workers);
	sched_end();
}

/* OS threads and ULTs wait for each other. */
#define THREADS 3
#define BALLS 2000

struct court {
	struct vm_ult *ult, *thread;
	int ult_hits, thread_hits;
};

static int ult_player(void *arg)
{
	struct court *court = arg;

	for (;;) {
		court->ult_hits++;
		vm_ult_wake(court->thread);
		if (court->ult_hits == BALLS)
			return 0;
		vm_ult_suspend();
	}
}

static void *thread_player(void *arg)
{
	struct court *court = arg;

	if (!vm_worker_adopt(NULL))
		return NULL;
	court->thread = vm_self;
	while (court->thread_hits < BALLS) {
		vm_ult_wake(court->ult);
		vm_ult_suspend();
		court->thread_hits++;
	}
	vm_ult_join(court->ult);
	vm_worker_release(vm_self->worker);
	return arg;
}

static void test_threads(void)
{
	struct court courts[THREADS] = { 0 };
	pthread_t threads[THREADS];
	int hits = 0;

	sched_begin(2);
	for (int i = 0; i < THREADS; i++) {
		if (vm_ult_new(&courts[i].ult, &vm_sched.workers[i % 2],
			       &sched_stacks, ult_player, &courts[i]) ||
		    pthread_create(&threads[i], NULL, thread_player,
				   &courts[i]))
			bail("no thread");
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		hits += courts[i].ult_hits + courts[i].thread_hits;
	}
	is_int(hits, 2 * THREADS * BALLS,
	       "OS threads and ULTs wake each other");
	sched_end();
}

static int nothing(void *arg)
{
	return arg != NULL;
}

/* Joins and ends race: joiner and joined are on different workers. */
static int joiner(void *arg)
{
	int sum = 0;

	(void)arg;
	for (int i = 0; i < 5000; i++)
		sum += vm_ult_join(sched_new(1, nothing, &sum));
	return sum;
}

static void test_far_join(void)
{
	sched_begin(2);
	is_int(sched_call(joiner, NULL), 5000,
	       "ULTs of another worker can be joined");
	ok(sched_stacks.made <= 128, "their stacks are used again (%zu)",
	   sched_stacks.made);
	sched_end();
}

static int overslept;

static int eternal(void *arg)
{
	(void)arg;
	vm_ult_sleep(UINT64_MAX - 5);
	overslept = 1;
	return 0;
}

static int eternal_body(void *arg)
{
	(void)arg;
	sched_new(0, eternal, NULL);
	for (int i = 0; i < 5; i++)
		vm_ult_sleep(1000000);
	ok(!overslept, "who sleeps for ever does not wake at once");
	return 0;
}

static int looks;
static bool comes, among_others;

static bool look(struct vm_worker *worker)
{
	looks++;
	among_others |= worker->head != NULL;
	return comes;
}

static bool poll_yields(bool finds)
{
	comes = finds;
	looks = 0;
	among_others = false;
	return vm_ult_poll();
}

static int set(void *arg)
{
	*(bool *)arg = true;
	return 0;
}

static int poll_body(void *arg)
{
	bool ran = false;
	struct vm_ult *other;

	(void)arg;
	ok(poll_yields(false) && looks == 2 && !among_others,
	   "who polls alone looks before and after it yields the processor");
	ok(!poll_yields(true) && looks == 1 && !among_others,
	   "... which it does not if something has come");
	other = sched_new(0, set, &ran);
	ok(poll_yields(true) && ran, "what else can run runs all the same");
	return vm_ult_join(other);
}

static void test_poll(void)
{
	sched_shared = 2;
	sched_begin_hooks(1, &(struct vm_sched_hooks){ .poll = look });
	sched_call(poll_body, NULL);
	sched_end();
	sched_shared = 0;
}

static int stepped(void *arg)
{
	trace_add('a');
	vm_ult_suspend();
	trace_add('b');
	vm_ult_suspend();
	trace_add(vm_self->worker->index < 0 ? 'c' : 'w');
	*(_Atomic bool *)arg = true;
	return 7;
}

static struct vm_ult *stepped_new(_Atomic bool *done)
{
	struct vm_ult *ult;

	*done = false;
	trace_clear();
	if (vm_ult_new(&ult, vm_self->worker, &sched_stacks, stepped, done))
		bail("no ULT");
	ok(!vm_ult_step(ult), "one that was not woken is not run");
	vm_ult_wake(ult);
	ok(vm_ult_step(ult), "a thread runs a ULT");
	is_string(trace, "a", "until it waits");
	vm_ult_wake(ult);
	ok(vm_ult_step(ult) && !vm_ult_step(ult), "each wake is a step");
	is_string(trace, "ab", "which goes on where it waited");
	return ult;
}

/* In steps of an OS thread, to the end or until a worker goes on with it. */
static void in_steps(void)
{
	_Atomic bool done;
	struct vm_ult *ult;

	sched_begin(1);
	ult = stepped_new(&done);
	vm_ult_wake(ult);
	ok(vm_ult_step(ult) && vm_ult_has_ended(ult), "it ends in a step");
	is_string(trace, "abc", "on the thread");
	is_int(vm_ult_join(ult), 7, "and is joined");
	for (int late = 0; late < 2; late++) {
		ult = stepped_new(&done);
		if (!late)
			vm_ult_wake(ult);
		vm_ult_hand_over(ult, &vm_sched.workers[0]);
		if (late)
			vm_ult_wake(ult);
		is_int(vm_ult_join(ult), 7, "one handed over is joined");
		ok(done && !strcmp(trace, "abw"), "a worker has run the rest");
	}
	sched_end();
}

int main(void)
{
	plan(55);
	sched_begin(1);
	sched_call(yield_body, NULL);
	sched_call(wake_body, NULL);
	sched_call(join_body, NULL);
	sched_call(sleep_body, NULL);
	sched_call(sleep_busy_body, NULL);
	sched_call(errno_body, NULL);
	sched_call(handoff_body, NULL);
	sched_end();
	test_walk(1);
	test_walk(2);
	test_walk(5);
	test_threads();
	test_far_join();
	test_poll();
	in_steps();
	/* The last one, with a worker that is never stopped. */
	sched_begin(1);
	sched_call(eternal_body, NULL);
	return done_testing();
}
