/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of libc that block an OS thread, for a rank that has threads of its
 * own: joins, mutexes, conditions, semaphores, barriers.
 *
 * A task that blocked its worker in one of them would keep all ranks of the
 * worker from running, and the very messages from arriving that its threads
 * wait for.  So it tries, and between tries lets the worker go on.
 */
#include "blocking.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "core/instrument/overlap_events.h"
#include "core/rank/wait.h"
#include "real.h"
#include "sched/ult.h"

#define TRIES_EAGER 16 /* yields before it sleeps between tries */
#define SLEEP_NS_MIN 10000u
#define SLEEP_NS_MAX 1000000u
#define CONDITION_NS 200000 /* how long a task waits in the kernel */

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

NODE_EXPORT int pthread_join(pthread_t thread, void **result)
{
	int error;

	if (!node_on_task())
		return REAL(pthread_join)(thread, result);
	for (unsigned tries = 0;
	     (error = pthread_tryjoin_np(thread, result)) == EBUSY; tries++)
		task_pause(tries);
	return error;
}

NODE_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int error;

	if (!node_on_task())
		return REAL(pthread_mutex_lock)(mutex);
	for (unsigned tries = 0;
	     (error = pthread_mutex_trylock(mutex)) == EBUSY; tries++)
		task_pause(tries);
	return error;
}

NODE_EXPORT int sem_wait(sem_t *semaphore)
{
	if (!node_on_task())
		return REAL(sem_wait)(semaphore);
	for (unsigned tries = 0; sem_trywait(semaphore); tries++) {
		if (errno != EAGAIN)
			return -1;
		task_pause(tries);
	}
	return 0;
}

typedef int (*cond_wait)(pthread_cond_t *, pthread_mutex_t *);

/* Conditions have had two layouts; a plain dlsym() finds the older one. */
static cond_wait real_cond_wait(void)
{
	static _Atomic(cond_wait) real;
	cond_wait found = real;

	if (!found)
		found = (cond_wait)dlvsym(RTLD_NEXT, "pthread_cond_wait",
					  "GLIBC_2.3.2");
	if (!found)
		found = (cond_wait)dlsym(RTLD_NEXT, "pthread_cond_wait");
	real = found;
	return found;
}

/* POSIX lets a wait end for no reason, and its callers look again. */
NODE_EXPORT int pthread_cond_wait(pthread_cond_t *condition,
				  pthread_mutex_t *mutex)
{
	struct timespec until;
	int error;

	if (!node_on_task())
		return real_cond_wait()(condition, mutex);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += CONDITION_NS;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	error = pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC,
				       &until);
	if (error != ETIMEDOUT)
		return error;
	pthread_mutex_unlock(mutex);
	vm_overlap_events_block_begin();
	vm_ult_yield();
	vm_overlap_events_block_end();
	return pthread_mutex_lock(mutex);
}

/* There is no trying at a barrier: a thread of its own waits for the task. */
struct barrier_wait {
	pthread_barrier_t *barrier;
	int result;
	struct vm_ult *task;
};

static void *barrier_main(void *arg)
{
	struct barrier_wait *wait = arg;

	wait->result = REAL(pthread_barrier_wait)(wait->barrier);
	vm_ult_wake(wait->task);
	return NULL;
}

NODE_EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct barrier_wait wait = { .barrier = barrier, .task = vm_self };
	pthread_t thread;

	if (!node_on_task() ||
	    REAL(pthread_create)(&thread, NULL, barrier_main, &wait))
		return REAL(pthread_barrier_wait)(barrier);
	vm_overlap_events_block_begin();
	vm_wait_other(VM_EXPORT_OTHER);
	vm_overlap_events_block_end();
	REAL(pthread_join)(thread, NULL); /* it is on its last instructions */
	return wait.result;
}
