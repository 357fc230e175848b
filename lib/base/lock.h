/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A spin lock for sections of a few dozen instructions.
 *
 * Taking it uncontended is one atomic exchange, giving it back a plain store. A
 * thread that waits long yields its time slice, so that a holder which the
 * kernel has preempted can run; after that it sleeps, because threads that
 * compute would keep a slice for milliseconds.  Never held across a task
 * switch.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define VM_LOCK_SPINS 200      /* attempts with a pause in between */
#define VM_LOCK_YIELDS 4       /* then time slices yielded */
#define VM_LOCK_SLEEP_NS 20000 /* then naps */

struct vm_lock {
	_Atomic int held;
};

static inline void vm_cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Yields the OS thread's time slice.  Not sched_yield(): the node program makes
 * that a task switch for the programs it runs. */
static inline void vm_cpu_yield(void)
{
	syscall(SYS_sched_yield);
}

static inline void vm_lock_init(struct vm_lock *lock)
{
	atomic_init(&lock->held, 0);
}

static inline bool vm_lock_try(struct vm_lock *lock)
{
	return !atomic_load_explicit(&lock->held, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&lock->held, 1, memory_order_acquire);
}

/* Puts the OS thread to sleep for a moment. */
static inline void vm_cpu_nap(void)
{
	struct timespec moment = { .tv_nsec = VM_LOCK_SLEEP_NS };

	syscall(SYS_nanosleep, &moment, NULL);
}

static inline void vm_lock_take(struct vm_lock *lock)
{
	while (atomic_exchange_explicit(&lock->held, 1, memory_order_acquire)) {
		for (int spins = 0;
		     atomic_load_explicit(&lock->held, memory_order_relaxed);
		     spins++) {
			if (spins < VM_LOCK_SPINS)
				vm_cpu_relax();
			else if (spins < VM_LOCK_SPINS + VM_LOCK_YIELDS)
				vm_cpu_yield();
			else
				vm_cpu_nap();
		}
	}
}

/* Pairs with the acquire of the next vm_lock_take() or vm_lock_try(). */
static inline void vm_lock_give(struct vm_lock *lock)
{
	atomic_store_explicit(&lock->held, 0, memory_order_release);
}

#endif
