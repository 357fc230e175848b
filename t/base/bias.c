/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The biased lock: one holder at a time, whoever owns it.
 */
#include "base/bias.h"

#include <pthread.h>

#include "tap.h"

#define THREADS 4
#define ROUNDS 30000

static struct vm_bias lock;
static long counter, tries;
static _Atomic bool other_has;

static bool owned(void)
{
	return atomic_load_explicit(&lock.owner, memory_order_relaxed) ==
	       vm_bias_self();
}

static void rows_take(int rows)
{
	for (int i = 0; i < rows * VM_BIAS_ROW; i++) {
		vm_bias_take(&lock);
		vm_bias_give(&lock);
	}
}

/* The one that may own it now and then takes it often in a row. */
static void *add(void *arg)
{
	bool trying = arg == &lock;

	for (int i = 0; i < ROUNDS;) {
		if (!trying) {
			vm_bias_take(&lock);
		} else if (!vm_bias_try(&lock)) {
			vm_cpu_yield();
			continue;
		}
		counter++;
		tries += trying;
		vm_bias_give(&lock);
		if (++i % 5000 == 0 && arg == &lock.last)
			rows_take(4);
	}
	return NULL;
}

static void *try_once(void *arg)
{
	bool *had = arg;

	*had = vm_bias_try(&lock);
	if (*had)
		vm_bias_give(&lock);
	return NULL;
}

static void *take_once(void *arg)
{
	vm_bias_take(&lock);
	atomic_store(&other_has, true);
	counter++;
	vm_bias_give(&lock);
	return NULL;
}

static bool other_tries(void)
{
	pthread_t thread;
	bool had = false;

	if (pthread_create(&thread, NULL, try_once, &had))
		bail("no thread");
	pthread_join(thread, NULL);
	return had;
}

static void *decline(void *arg)
{
	vm_bias_decline();
	rows_take(2);
	return arg;
}

static void check_owner(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, decline, NULL))
		bail("no thread");
	pthread_join(thread, NULL);
	ok(!atomic_load(&lock.owner), "who has declined it never owns it");
	rows_take(2);
	if (!lock.fences)
		skip(6, "the kernel has no membarrier()");
	else {
		ok(owned(), "who takes it often in a row owns it");
		vm_bias_take(&lock);
		ok(!vm_bias_try(&lock), "and cannot have it twice");
		ok(!other_tries(), "nor can another one while it is inside");
		ok(owned(), "which does not cost it the bias");
		if (pthread_create(&thread, NULL, take_once, NULL))
			bail("no thread");
		vm_cpu_nap();
		ok(!atomic_load(&other_has), "one that waits does so");
		vm_bias_give(&lock);
		pthread_join(thread, NULL);
		ok(atomic_load(&other_has) && !owned(),
		   "until it is given back, and ends the bias");
	}
	rows_take(2);
	ok(!lock.fences || !owned(), "it takes longer the next time");
	rows_take(8);
	ok(!lock.fences || owned(), "but is owned again");
	ok(other_tries(), "who tries ends the bias of one that is outside");
	counter = 0;
}

int main(void)
{
	pthread_t threads[THREADS];

	vm_bias_init(&lock);
	ok(vm_bias_try(&lock), "a free lock can be had");
	ok(!vm_bias_try(&lock), "a held one cannot");
	vm_bias_give(&lock);
	check_owner();
	for (long i = 1; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, add,
				   i % 2 ? &lock : NULL))
			bail("no thread");
	add(&lock.last);
	for (int i = 1; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	is_int(counter, (long)THREADS * ROUNDS, "no addition was lost");
	is_int(tries, (long)THREADS / 2 * ROUNDS, "by those who try either");
	return done_testing();
}
