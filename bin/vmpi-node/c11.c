/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of C11, which glibc makes of its POSIX threads without calling
 * those by name: here they are called by name, and so they act for their rank
 * and do not block a worker (interpose.c, blocking.c, waits.c).
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#include "base/lock.h"
#include "real.h"

VM_STATIC_ASSERT(sizeof(mtx_t) == sizeof(pthread_mutex_t) &&
			 sizeof(cnd_t) == sizeof(pthread_cond_t) &&
			 sizeof(thrd_t) == sizeof(pthread_t),
		 "glibc's types of C11 are those of POSIX");

static int result_of(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case ENOMEM:
		return thrd_nomem;
	case ETIMEDOUT:
		return thrd_timedout;
	case EBUSY:
		return thrd_busy;
	default:
		return thrd_error;
	}
}

struct thread_start {
	thrd_start_t run;
	void *arg;
};

static void *thread_main(void *arg)
{
	struct thread_start start = *(struct thread_start *)arg;

	free(arg);
	/* As thrd_exit() passes it on. */
	return (void *)(uintptr_t)start.run(start.arg);
}

NODE_EXPORT int thrd_create(thrd_t *thread, thrd_start_t run, void *arg)
{
	struct thread_start *start;
	int error;

	if (!node_copy())
		return REAL(thrd_create)(thread, run, arg);
	start = malloc(sizeof(*start));
	if (!start)
		return thrd_nomem;
	*start = (struct thread_start){ run, arg };
	error = pthread_create(thread, NULL, thread_main, start);
	if (error)
		free(start);
	return result_of(error);
}

NODE_EXPORT int thrd_join(thrd_t thread, int *result)
{
	void *value;
	int error = pthread_join(thread, &value);

	if (!error && result)
		*result = (int)(uintptr_t)value;
	return result_of(error);
}

NODE_EXPORT int thrd_sleep(const struct timespec *time, struct timespec *left)
{
	if (!nanosleep(time, left))
		return 0;
	return errno == EINTR ? -1 : -2;
}

NODE_EXPORT void thrd_yield(void)
{
	sched_yield();
}

NODE_EXPORT int mtx_lock(mtx_t *mutex)
{
	return result_of(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

NODE_EXPORT int mtx_timedlock(mtx_t *mutex, const struct timespec *until)
{
	return result_of(
		pthread_mutex_timedlock((pthread_mutex_t *)mutex, until));
}

NODE_EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
	return result_of(pthread_cond_wait((pthread_cond_t *)condition,
					   (pthread_mutex_t *)mutex));
}

NODE_EXPORT int cnd_timedwait(cnd_t *condition, mtx_t *mutex,
			      const struct timespec *until)
{
	return result_of(pthread_cond_timedwait(
		(pthread_cond_t *)condition, (pthread_mutex_t *)mutex, until));
}
