/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of libc, for a rank that has threads of its own.
 *
 * A task that blocked its worker would keep all ranks of the worker from
 * running, and the very messages from arriving that its threads wait for.  A
 * lock belongs to the thread that takes it, so the task itself tries, and
 * between tries lets the worker go on.  What is only waited for is in waits.c.
 */
#include "blocking.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "core/instrument/overlap_events.h"
#include "core/rank/wait.h"
#include "real.h"
#include "sched/ult.h"

#define SLEEP_NS_MIN 10000u
#define SLEEP_NS_MAX 1000000u

void task_pause(unsigned tries)
{
	unsigned doublings = tries < TRIES_EAGER ? 0 : tries - TRIES_EAGER;
	struct vm_rank *rank = vm_wait_begin(VM_EXPORT_OTHER);

	vm_overlap_events_block_begin();
	if (tries < TRIES_EAGER)
		vm_ult_yield();
	else if (doublings < 7)
		vm_ult_sleep((uint64_t)SLEEP_NS_MIN << doublings);
	else
		vm_ult_sleep(SLEEP_NS_MAX);
	vm_overlap_events_block_end();
	vm_wait_end(rank);
}

bool time_is_over(clockid_t clock, const struct timespec *until)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		return false;
	return now.tv_sec > until->tv_sec ||
	       (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

/* A time as the functions below refuse it, when they have to wait. */
static bool is_wrong(const struct timespec *until)
{
	return until->tv_nsec < 0 || until->tv_nsec > 999999999;
}

/* Tries until it has the lock or the time (NULL: none) has come. */
static int lock_take(int (*try)(void *lock), void *lock, clockid_t clock,
		     const struct timespec *until)
{
	int error;

	for (unsigned tries = 0; (error = try(lock)) == EBUSY; tries++) {
		if (until && is_wrong(until))
			return EINVAL;
		if (until && time_is_over(clock, until))
			return ETIMEDOUT;
		task_pause(tries);
	}
	return error;
}

static int mutex_try(void *mutex)
{
	return pthread_mutex_trylock(mutex);
}

NODE_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!node_on_task())
		return REAL(pthread_mutex_lock)(mutex);
	return lock_take(mutex_try, mutex, 0, NULL);
}

NODE_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex,
					const struct timespec *until)
{
	if (!node_on_task())
		return REAL(pthread_mutex_timedlock)(mutex, until);
	return lock_take(mutex_try, mutex, CLOCK_REALTIME, until);
}

NODE_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
					const struct timespec *until)
{
	if (!node_on_task() ||
	    (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
		return REAL(pthread_mutex_clocklock)(mutex, clock, until);
	return lock_take(mutex_try, mutex, clock, until);
}

/* Whether a task that finds the lock held may let others run: not in a library
 * that the runtime itself calls. */
static bool is_of_program(const void *caller)
{
	size_t offset;

	return node_on_task() &&
	       vm_image_find(node_copy()->image, caller, &offset) >= 0;
}

static int read_try(void *lock)
{
	return pthread_rwlock_tryrdlock(lock);
}

static int write_try(void *lock)
{
	return pthread_rwlock_trywrlock(lock);
}

#define CALLER __builtin_return_address(0)

NODE_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	int error = pthread_rwlock_tryrdlock(lock);

	if (error != EBUSY || !is_of_program(CALLER))
		return error == EBUSY ? REAL(pthread_rwlock_rdlock)(lock) :
					error;
	return lock_take(read_try, lock, 0, NULL);
}

NODE_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock,
					   const struct timespec *until)
{
	if (!is_of_program(CALLER))
		return REAL(pthread_rwlock_timedrdlock)(lock, until);
	return lock_take(read_try, lock, CLOCK_REALTIME, until);
}

NODE_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock,
					   clockid_t clock,
					   const struct timespec *until)
{
	if (!is_of_program(CALLER))
		return REAL(pthread_rwlock_clockrdlock)(lock, clock, until);
	return lock_take(read_try, lock, clock, until);
}

NODE_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	int error = pthread_rwlock_trywrlock(lock);

	if (error != EBUSY || !is_of_program(CALLER))
		return error == EBUSY ? REAL(pthread_rwlock_wrlock)(lock) :
					error;
	return lock_take(write_try, lock, 0, NULL);
}

NODE_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock,
					   const struct timespec *until)
{
	if (!is_of_program(CALLER))
		return REAL(pthread_rwlock_timedwrlock)(lock, until);
	return lock_take(write_try, lock, CLOCK_REALTIME, until);
}

NODE_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock,
					   clockid_t clock,
					   const struct timespec *until)
{
	if (!is_of_program(CALLER))
		return REAL(pthread_rwlock_clockwrlock)(lock, clock, until);
	return lock_take(write_try, lock, clock, until);
}

static int spin_try(void *lock)
{
	return pthread_spin_trylock(lock);
}

NODE_EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
	int error = pthread_spin_trylock(lock);

	if (error != EBUSY || !is_of_program(CALLER))
		return error == EBUSY ? REAL(pthread_spin_lock)(lock) : error;
	return lock_take(spin_try, (void *)(uintptr_t)lock, 0, NULL);
}
