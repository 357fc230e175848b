/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers: with nothing to do they take no processor time, and no wake is lost
 * on the way to sleep.
 */
#include "sched/worker.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/lock.h"
#include "sched.h"
#include "sched/thread.h"

/* Processor time of the process in nanoseconds. */
static uint64_t cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
		       1000000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
		       1000;
}

static int waiter(void *arg)
{
	_Atomic bool *waits = arg;

	/* A thread that sees it may wake us: from now on we run, or are
	 * suspended. */
	atomic_store_explicit(waits, true, memory_order_release);
	vm_ult_suspend();
	return 0;
}

static int napper(void *arg)
{
	(void)arg;
	vm_ult_sleep(300000000);
	return 0;
}

/* The processor's share of 0.3 s, in per cent. */
static int idle_share(void)
{
	uint64_t start = vm_clock_ns(), cpu;

	/* A ULT that has just started may not have finished. */
	vm_ult_sleep(20000000);
	cpu = cpu_ns();
	start = vm_clock_ns();
	vm_ult_sleep(300000000);
	return (int)((cpu_ns() - cpu) * 100 / (vm_clock_ns() - start));
}

static void test_idle(void)
{
	static _Atomic bool waits[3];
	struct vm_ult *ults[4];
	uint64_t sleeps = 0;
	int share;

	sched_begin(3);
	share = idle_share();
	ok(share < 30, "idle workers take no processor time (%d %%)", share);
	for (int i = 0; i < 3; i++) {
		ults[i] = sched_new(i, waiter, &waits[i]);
		while (!atomic_load_explicit(&waits[i], memory_order_acquire))
			vm_ult_sleep(1000000);
	}
	share = idle_share();
	ok(share < 30, "nor do those whose ULTs wait for ever (%d %%)", share);
	ults[3] = sched_new(0, napper, NULL);
	share = idle_share();
	ok(share < 30, "nor those whose ULTs sleep (%d %%)", share);
	vm_ult_join(ults[3]);
	for (int i = 0; i < 3; i++) {
		vm_ult_wake(ults[i]);
		vm_ult_join(ults[i]);
		sleeps += __atomic_load_n(&vm_sched.workers[i].pvars.sleeps,
					  __ATOMIC_RELAXED);
	}
	ok(sleeps >= 3, "they have slept (%d times)", (int)sleeps);
	sched_end();
}

/* Two that wake each other, each on a worker that then has nothing to do. */
struct side {
	struct vm_ult *other;
	_Atomic bool begun;
	_Atomic int turns;
	uint64_t pause_ticks;
};

static struct side sides[2];
static int turns_max;

static int volley(void *arg)
{
	struct side *side = arg;

	atomic_store_explicit(&side->begun, true, memory_order_release);
	for (int i = 0; i < turns_max; i++) {
		uint64_t start;

		vm_ult_suspend();
		start = vm_clock_ticks();
		while (vm_clock_ticks() - start <
		       side->pause_ticks * (uint64_t)i)
			vm_cpu_relax();
		side->turns++;
		/* The other one has ended when the second has its last turn. */
		if (side == &sides[0] || i + 1 < turns_max)
			vm_ult_wake(side->other);
	}
	return 0;
}

static void test_volley(int64_t spin_us, int turns)
{
	int64_t before = sched_cvar.spin_us;
	struct vm_ult *ults[2];

	turns_max = turns;
	sched_cvar.spin_us = spin_us;
	sched_begin(2);
	for (int i = 0; i < 2; i++)
		if (vm_ult_new(&ults[i], &vm_sched.workers[i], &sched_stacks,
			       volley, &sides[i]))
			bail("no ULT");
	for (int i = 0; i < 2; i++) {
		sides[i].turns = 0;
		sides[i].begun = false;
		sides[i].other = ults[!i];
	}
	vm_ult_wake(ults[0]);
	vm_ult_wake(ults[1]);
	for (int i = 0; i < 2; i++)
		while (!atomic_load_explicit(&sides[i].begun,
					     memory_order_acquire))
			vm_ult_sleep(1000000);
	vm_ult_wake(ults[0]);
	for (int i = 0; i < 2; i++)
		vm_ult_join(ults[i]);
	is_int(sides[0].turns + sides[1].turns, 2 * turns,
	       "no wake is lost when workers spin for %d us", (int)spin_us);
	sched_end();
	sched_cvar.spin_us = before;
}

/* More workers than processors, a chain of wakes through all of them. */
#define CROWD 24
#define ROUNDS 100

static int relay(void *arg)
{
	int *sum = arg;

	for (int i = 0; i < ROUNDS; i++) {
		if (i % 16 == 3)
			vm_ult_sleep(1000);
		else
			vm_ult_yield();
		++*sum;
	}
	return *sum;
}

static int relay_parent(void *arg)
{
	static int sums[CROWD * 4];
	struct vm_ult *ults[CROWD * 4];
	int sum = 0;

	(void)arg;
	for (int i = 0; i < CROWD * 4; i++)
		ults[i] = sched_new(i % CROWD, relay, &sums[i]);
	for (int i = 0; i < CROWD * 4; i++)
		sum += vm_ult_join(ults[i]);
	return sum;
}

static void test_crowd(void)
{
	sched_begin(CROWD);
	is_int(sched_call(relay_parent, NULL), CROWD * 4 * ROUNDS,
	       "%d workers do their work", CROWD);
	sched_end();
}

static void test_again(void)
{
	for (int i = 0; i < 20; i++) {
		sched_begin(1 + i % 4);
		sched_end();
	}
	ok(true, "workers start and stop again and again");
}

static struct vm_ult *waits_alone;
static _Atomic bool rests_on_it;
static _Atomic int rests_unsaid;

static void rest(struct vm_worker *worker)
{
	if (!worker)
		return;
	if (!vm_self->worker->idles)
		atomic_fetch_add(&rests_unsaid, 1);
	if (vm_self == waits_alone)
		atomic_store(&rests_on_it, true);
}

static int wait_alone(void *arg)
{
	(void)arg;
	waits_alone = vm_self;
	vm_ult_suspend();
	return vm_self->worker->idles;
}

/* A worker idles on the stack of the ULT that waits, which vm_self still is:
 * what is called there must know, so as not to suspend it once more. */
static void test_idles(void)
{
	struct vm_ult *ult;

	sched_begin_hooks(1, &(struct vm_sched_hooks){ .rest = rest });
	ult = sched_new(0, wait_alone, NULL);
	while (!atomic_load(&rests_on_it))
		vm_cpu_yield();
	vm_ult_wake(ult);
	ok(!vm_ult_join(ult), "a ULT that runs is not idle");
	sched_end();
	is_int(rests_unsaid, 0,
	       "a worker that sleeps on the stack of one says that it idles");
}

/* How a worker waits: by worker->looks, which changes when it yields its
 * processor, as its ULT sees it afterwards and `watch` meanwhile. */
#define LOOKS 3

static struct vm_ult *spinner;
static _Atomic bool spinner_waits, spinner_yielded;

static bool watch(struct vm_worker *worker)
{
	if (worker->index == 0 && vm_self == spinner && worker->looks != LOOKS)
		atomic_store(&spinner_yielded, true);
	return false;
}

static int spin(void *until)
{
	struct vm_worker *worker = vm_self->worker;

	worker->looks = LOOKS;
	worker->no_spins_until = *(uint64_t *)until;
	spinner = vm_self;
	atomic_store(&spinner_waits, true);
	vm_ult_suspend();
	return worker->looks;
}

static int nap_and_wake(void *arg)
{
	(void)arg;
	while (!atomic_load(&spinner_waits))
		vm_ult_sleep(1000000);
	vm_ult_sleep(20000000);
	vm_ult_wake(spinner);
	return 0;
}

/* Worker 0 waits for something to run, and polls (until: 0) or sleeps. */
static struct vm_ult *spin_begin(uint64_t until)
{
	static uint64_t no_spins_until;
	struct vm_ult *ult;

	no_spins_until = until;
	atomic_store(&spinner_waits, false);
	atomic_store(&spinner_yielded, false);
	ult = sched_new(0, spin, &no_spins_until);
	while (!atomic_load(&spinner_waits))
		vm_cpu_yield();
	return ult;
}

static void spin_us_set(int64_t us)
{
	__atomic_store_n(&sched_cvar.spin_us, us, __ATOMIC_RELAXED);
}

static void test_company(void)
{
	struct vm_worker *worker = &vm_sched.workers[0];
	struct vm_ult *ult, *waker;

	vm_thread_away();
	ult = spin_begin(0);
	waker = sched_new(1, nap_and_wake, NULL);
	is_int(vm_ult_join(ult), LOOKS,
	       "beside threads that wait a worker polls without yielding");
	vm_ult_join(waker);

	ult = spin_begin(0);
	spin_us_set(0);
	while (!atomic_load(&worker->sleeping))
		vm_cpu_yield();
	vm_ult_wake(spinner);
	vm_ult_join(ult);
	ok(true, "sched_spin_us is obeyed when it is set during the wait");
	spin_us_set(INT64_MAX / 1000);
	vm_thread_back();

	ult = spin_begin(0);
	while (!atomic_load(&spinner_yielded))
		vm_cpu_yield();
	vm_ult_wake(spinner);
	ok(vm_ult_join(ult) != LOOKS,
	   "beside one that runs it yields its processor");

	ult = spin_begin(UINT64_MAX);
	while (!atomic_load(&worker->sleeping))
		vm_cpu_yield();
	vm_ult_wake(spinner);
	is_int(vm_ult_join(ult), LOOKS,
	       "but sleeps for some time after a yield that has taken long");
}

/* With workers that poll for ever, unless they sleep at once. */
static void test_spin(void)
{
	int64_t before = sched_cvar.spin_us;

	spin_us_set(INT64_MAX / 1000);
	sched_begin_hooks(2, &(struct vm_sched_hooks){ .poll = watch });
	if (vm_sched.crowded)
		skip(4, "there are not two processors");
	else
		test_company();
	sched_end();
	spin_us_set(before);
}

static int asked; /* times, of a wait for the last of */
enum { ASKED_MOST = 1000 };

static bool is_last(void *arg)
{
	(void)arg;
	return ++asked == ASKED_MOST;
}

static bool poll_finds(void)
{
	return true;
}

static bool sleep_elsewhere(struct vm_ult *self)
{
	(void)self;
	return false;
}

/* Of a thread that is a rank.  With so many processes per core no yield is long
 * for it, however long it takes. */
static void test_thread_spin(void)
{
	const struct vm_sched_hooks hooks = { .thread_poll = poll_finds,
					      .thread_sleep = sleep_elsewhere };
	int64_t before = sched_cvar.spin_us;

	vm_topo_share(0, INT16_MAX);
	sched_begin_hooks(1, &hooks);
	spin_us_set(1);
	ok(vm_thread_spin(vm_self->worker, is_last, NULL),
	   "a thread goes on polling as long as something comes");
	sched_end();
	spin_us_set(before);
}

static int thread_looks;
static bool comes;

static bool thread_look(void)
{
	thread_looks++;
	return comes;
}

static void test_thread_poll(void)
{
	const struct vm_sched_hooks hooks = { .thread_poll = thread_look,
					      .thread_sleep = sleep_elsewhere };
	bool yields = false;
	int yielded = 0;

	sched_begin_hooks(1, &hooks);
	vm_self->owner = &thread_looks;
	for (int i = 0; i < ASKED_MOST; i++)
		yields |= vm_ult_poll();
	ok(thread_looks >= ASKED_MOST,
	   "a thread that is a rank looks at the network whenever it polls");
	ok(yields, "... and now and then yields its processor");
	comes = true;
	for (int i = 0; i < ASKED_MOST; i++)
		yielded += vm_ult_poll();
	ok(!yielded, "... but not if something has come");
	vm_self->owner = NULL;
	sched_end();
}

static void test_thread_poll_shared(void)
{
	const struct vm_sched_hooks hooks = { .thread_poll = thread_look,
					      .thread_sleep = sleep_elsewhere };
	int yielded = 0;

	sched_shared = 2;
	sched_begin_hooks(1, &hooks);
	vm_self->owner = &thread_looks;
	comes = false;
	thread_looks = 0;
	for (int i = 0; i < ASKED_MOST; i++)
		yielded += vm_ult_poll();
	is_int(yielded, ASKED_MOST,
	       "where processes share cores it yields each time");
	is_int(thread_looks, 2 * ASKED_MOST, "... and looks again");
	vm_self->owner = NULL;
	sched_end();
	sched_shared = 0;
}

static void test_patient(void)
{
	static struct vm_worker worker;
	uint64_t ns = vm_worker_polls_ns(&worker);
	int shared = vm_sched.shared;

	vm_sched.shared = 0;
	vm_worker_slept(&worker, 2 * ns);
	ok(vm_worker_polls_ns(&worker) == 4 * ns,
	   "after a wait with a short sleep the next ones poll longer");
	vm_worker_slept(&worker, 8 * ns);
	ok(vm_worker_polls_ns(&worker) == ns,
	   "... and after a long one no longer than usual");
	vm_sched.shared = 2;
	vm_worker_slept(&worker, 2 * ns);
	ok(vm_worker_polls_ns(&worker) == ns,
	   "... nor do they where processes share cores");
	vm_sched.shared = shared;
}

static int hold(void *arg)
{
	_Atomic bool *end = arg;

	while (!atomic_load(end))
		vm_cpu_yield();
	return 0;
}

static void test_crowded(void)
{
	_Atomic bool end = false;
	struct vm_ult *ults[2];

	sched_one_processor = true;
	sched_begin(2);
	ults[0] = sched_new(0, hold, &end);
	while (vm_sched_crowded())
		vm_cpu_yield();
	ok(true, "a worker that sleeps needs no processor");
	ults[1] = sched_new(1, hold, &end);
	while (!vm_sched_crowded())
		vm_cpu_yield();
	ok(true, "... until it runs something");
	end = true;
	for (int i = 0; i < 2; i++)
		vm_ult_join(ults[i]);
	sched_end();
	sched_one_processor = false;
}

static _Atomic bool held, held_end;

/* Worker 1 gets no processor any more once it sleeps. */
static bool sleep_held(struct vm_worker *worker, uint64_t limit_ns)
{
	(void)limit_ns;
	if (worker->index != 1)
		return false;
	held = true;
	while (!held_end)
		vm_cpu_yield();
	return true;
}

static void test_crowded_at_once(void)
{
	const struct vm_sched_hooks hooks = { .sleep = sleep_held };
	_Atomic bool end = false;
	struct vm_ult *ult;

	sched_one_processor = true;
	sched_begin_hooks(2, &hooks);
	ult = sched_new(0, hold, &end);
	while (!held || atomic_load(&vm_sched.asleep) != 1)
		vm_cpu_yield();
	ok(!vm_sched_crowded(), "while one worker sleeps the other is alone");
	vm_worker_nudge_slow(&vm_sched.workers[1]);
	ok(vm_sched_crowded(),
	   "... until that is woken, whether it runs or not");
	held_end = true;
	end = true;
	vm_ult_join(ult);
	sched_end();
	sched_one_processor = false;
}

int main(void)
{
	plan(29);
	test_idle();
	test_volley(0, 5000);
	test_volley(50, 5000);
	/* Pauses that grow: one of them ends just when the other falls
	 * asleep. */
	sides[0].pause_ticks = 40;
	sides[1].pause_ticks = 23;
	test_volley(5, 3000);
	test_volley(20, 3000);
	test_crowd();
	test_crowded();
	test_crowded_at_once();
	test_again();
	test_idles();
	test_spin();
	test_thread_spin();
	test_thread_poll();
	test_thread_poll_shared();
	test_patient();
	return done_testing();
}
