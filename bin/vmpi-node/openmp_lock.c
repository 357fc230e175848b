/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP's locks and critical sections.
 *
 * libgomp has one lock for all critical sections without a name, and one for
 * atomic updates; here each rank has its own.  A task that waits for a lock
 * lets its worker go on.
 */
#include "openmp.h"

#include "base/lock.h"
#include "blocking.h"
#include "node.h"
#include "real.h"
#include "sched/futex.h"

#define SPINS 100

/* Values of a lock. */
enum { FREE, HELD, AWAITED };

static void word_lock(_Atomic uint32_t *word)
{
	for (unsigned i = 0; i < SPINS; i++) {
		uint32_t free = FREE;

		/* Pairs with the exchange in word_unlock(). */
		if (atomic_compare_exchange_strong_explicit(
			    word, &free, HELD, memory_order_acquire,
			    memory_order_relaxed))
			return;
		vm_cpu_relax();
	}
	for (unsigned tries = 0;
	     atomic_exchange_explicit(word, AWAITED, memory_order_acquire) !=
	     FREE;
	     tries++)
		if (node_on_task())
			task_pause(tries);
		else
			vm_futex_wait(word, AWAITED, 0);
}

static void word_unlock(_Atomic uint32_t *word)
{
	if (atomic_exchange_explicit(word, FREE, memory_order_release) ==
	    AWAITED)
		vm_futex_wake(word);
}

NODE_EXPORT void GOMP_critical_start(void);
NODE_EXPORT void GOMP_critical_start(void)
{
	struct vm_image_copy *copy = node_copy();

	if (copy)
		word_lock(&copy->critical);
	else
		OPENMP(GOMP_critical_start)();
}

NODE_EXPORT void GOMP_critical_end(void);
NODE_EXPORT void GOMP_critical_end(void)
{
	struct vm_image_copy *copy = node_copy();

	if (copy)
		word_unlock(&copy->critical);
	else
		OPENMP(GOMP_critical_end)();
}

/* The place of a name is in the program, so of a rank already. */
NODE_EXPORT void GOMP_critical_name_start(void **place);
NODE_EXPORT void GOMP_critical_name_start(void **place)
{
	word_lock((_Atomic uint32_t *)place);
}

NODE_EXPORT void GOMP_critical_name_end(void **place);
NODE_EXPORT void GOMP_critical_name_end(void **place)
{
	word_unlock((_Atomic uint32_t *)place);
}

NODE_EXPORT void GOMP_atomic_start(void);
NODE_EXPORT void GOMP_atomic_start(void)
{
	struct vm_image_copy *copy = node_copy();

	if (copy)
		word_lock(&copy->atomics);
	else
		OPENMP(GOMP_atomic_start)();
}

NODE_EXPORT void GOMP_atomic_end(void);
NODE_EXPORT void GOMP_atomic_end(void)
{
	struct vm_image_copy *copy = node_copy();

	if (copy)
		word_unlock(&copy->atomics);
	else
		OPENMP(GOMP_atomic_end)();
}

/* Not replaced. */
extern int omp_test_lock(void *lock);
extern int omp_test_nest_lock(void *lock);

NODE_EXPORT void omp_set_lock(void *lock);
NODE_EXPORT void omp_set_lock(void *lock)
{
	if (!node_on_task()) {
		OPENMP(omp_set_lock)(lock);
		return;
	}
	for (unsigned tries = 0; !OPENMP(omp_test_lock)(lock); tries++)
		task_pause(tries);
}

NODE_EXPORT void omp_set_nest_lock(void *lock);
NODE_EXPORT void omp_set_nest_lock(void *lock)
{
	if (!node_on_task()) {
		OPENMP(omp_set_nest_lock)(lock);
		return;
	}
	for (unsigned tries = 0; !OPENMP(omp_test_nest_lock)(lock); tries++)
		task_pause(tries);
}
