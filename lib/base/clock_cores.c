/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads throw a ball with the time on it.
 *
 * The thrower, the calling thread, writes its reading and an odd number; the
 * catcher, bound to one processor after the other, must then read no less,
 * writes its own reading and the next even number, and the thrower must read no
 * less than that.  This finds any difference longer than the flight of the
 * ball, some 100 ns.
 */
#include "base/clock_cores.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/own.h"

#define CORES_MAX 16	 /* processors that are checked */
#define THROWS 32	 /* to each of them */
#define PATIENCE 2000000 /* ns to wait for a processor */
#define LOOKS 200	 /* polls before a waiter yields the processor */
#define GONE UINT64_MAX	 /* the thrower waits no longer */

struct ball {
	_Atomic uint64_t number VM_ALIGNED(VM_CACHELINE);
	uint64_t reading;
	_Atomic bool backwards;
	uint64_t (*read)(void);
	int processor;
};

/* Waits for the number; false: it takes too long, or the other thread has
 * left. */
static bool ball_await(struct ball *ball, uint64_t number)
{
	uint64_t start = vm_clock_ns();

	for (int looks = 1;; looks++) {
		/* Pairs with the store in ball_throw(). */
		uint64_t now = atomic_load_explicit(&ball->number,
						    memory_order_acquire);

		if (now == number)
			return true;
		if (now == GONE)
			return false;
		vm_cpu_relax();
		if (looks % LOOKS != 0)
			continue;
		if (vm_clock_ns() - start > PATIENCE)
			return false;
		vm_cpu_yield();
	}
}

static void ball_throw(struct ball *ball, uint64_t number)
{
	ball->reading = ball->read();
	/* Pairs with the load in ball_await(). */
	atomic_store_explicit(&ball->number, number, memory_order_release);
}

/* Checks the reading, once the ball is caught. */
static void ball_check(struct ball *ball)
{
	if (ball->read() < ball->reading)
		atomic_store_explicit(&ball->backwards, true,
				      memory_order_relaxed);
}

static void *catcher_main(void *arg)
{
	struct ball *ball = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(ball->processor, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return NULL; /* the thrower does without it */
	for (uint64_t number = 1; number < 2 * THROWS; number += 2) {
		if (!ball_await(ball, number))
			break;
		ball_check(ball);
		ball_throw(ball, number + 1);
	}
	return NULL;
}

/* 1: the processor agrees, 0: it did not answer, -1: it does not agree. */
static int processor_ask(int processor, uint64_t (*read)(void))
{
	struct ball ball = { .processor = processor, .read = read };
	pthread_t catcher;
	bool caught = true;

	if (vm_own_create(&catcher, catcher_main, &ball))
		return 0;
	for (uint64_t number = 1; caught && number < 2 * THROWS; number += 2) {
		ball_throw(&ball, number);
		caught = ball_await(&ball, number + 1);
		if (caught)
			ball_check(&ball);
	}
	if (!caught)
		atomic_store_explicit(&ball.number, GONE, memory_order_relaxed);
	pthread_join(catcher, NULL);
	if (atomic_load_explicit(&ball.backwards, memory_order_relaxed))
		return -1;
	return caught;
}

int vm_clock_cores_agree(uint64_t (*read)(void))
{
	int count, step, seen = 0, agree = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	count = CPU_COUNT(&set);
	if (count == 1)
		return 1;
	step = (count + CORES_MAX - 1) / CORES_MAX;
	for (int i = 0; i < CPU_SETSIZE && seen < count; i++) {
		int answer;

		if (!CPU_ISSET(i, &set))
			continue;
		if (seen++ % step != 0)
			continue;
		answer = processor_ask(i, read);
		if (answer < 0)
			return -1;
		agree += answer;
	}
	return agree;
}
