/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The spin lock: one holder at a time, with more threads than processors.
 */
#include "base/lock.h"

#include <pthread.h>

#include "tap.h"

#define THREADS 6
#define ROUNDS 100000

static struct vm_lock lock;
static long counter, tries;

static void *add(void *arg)
{
	bool trying = arg != NULL;

	for (int i = 0; i < ROUNDS;) {
		if (!trying) {
			vm_lock_take(&lock);
		} else if (!vm_lock_try(&lock)) {
			vm_cpu_yield();
			continue;
		}
		counter++;
		tries += trying;
		vm_lock_give(&lock);
		i++;
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	plan(5);
	vm_lock_init(&lock);
	ok(vm_lock_try(&lock), "a free lock can be had");
	ok(!vm_lock_try(&lock), "a held one cannot");
	vm_lock_give(&lock);
	ok(vm_lock_try(&lock), "until it is given back");
	vm_lock_give(&lock);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, add,
				   i % 2 ? &lock : NULL))
			bail("no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	is_int(counter, (long)THREADS * ROUNDS, "no addition was lost");
	is_int(tries, (long)THREADS / 2 * ROUNDS, "by those who try either");
	return done_testing();
}
