/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways in which a rank's main thread waits for another of its threads,
 * which first sends a number around all ranks: that one gets there only if the
 * main threads of the other ranks run, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static mtx_t c11_mutex;
static cnd_t c11_condition;
static _Atomic int held, done;

static void ring(void)
{
	int number = rank;

	held = 1;
	usleep(5000); /* the main thread waits, by now */
	MPI_Sendrecv_replace(&number, 1, MPI_INT, (rank + 1) % size, 0,
			     (rank + size - 1) % size, 0, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
}

static struct timespec in_a_minute(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_sec += 60;
	return time;
}

/* What the thread does, and what the main thread does meanwhile: 0. */
#define WAITS(X)                                                               \
	X(rdlock,                                                              \
	  (pthread_rwlock_wrlock(&rwlock), ring(),                             \
	   pthread_rwlock_unlock(&rwlock)),                                    \
	  pthread_rwlock_rdlock(&rwlock) || pthread_rwlock_unlock(&rwlock))    \
	X(wrlock,                                                              \
	  (pthread_rwlock_rdlock(&rwlock), ring(),                             \
	   pthread_rwlock_unlock(&rwlock)),                                    \
	  pthread_rwlock_timedwrlock(&rwlock, &real) ||                        \
		  pthread_rwlock_unlock(&rwlock))                              \
	X(spin,                                                                \
	  (pthread_spin_lock(&spin), ring(), pthread_spin_unlock(&spin)),      \
	  pthread_spin_lock(&spin) || pthread_spin_unlock(&spin))              \
	X(timedlock,                                                           \
	  (pthread_mutex_lock(&mutex), ring(), pthread_mutex_unlock(&mutex)),  \
	  pthread_mutex_timedlock(&mutex, &real) ||                            \
		  pthread_mutex_unlock(&mutex))                                \
	X(timedwait,                                                           \
	  (ring(), pthread_mutex_lock(&mutex), done = 1,                       \
	   pthread_cond_signal(&condition), pthread_mutex_unlock(&mutex)),     \
	  condition_wait(&mutex, &real))                                       \
	X(recursive,                                                           \
	  (ring(), pthread_mutex_lock(&recursive), done = 1,                   \
	   pthread_cond_signal(&condition), pthread_mutex_unlock(&recursive)), \
	  condition_wait(&recursive, &real))                                   \
	X(sem, (ring(), sem_post(&semaphore)),                                 \
	  sem_timedwait(&semaphore, &real))                                    \
	X(futex,                                                               \
	  (ring(), done = 1,                                                   \
	   syscall(SYS_futex, &done, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0)),   \
	  futex_wait())                                                        \
	X(join, ring(), 0)                                                     \
	X(c11_mutex, (mtx_lock(&c11_mutex), ring(), mtx_unlock(&c11_mutex)),   \
	  mtx_lock(&c11_mutex) || mtx_unlock(&c11_mutex))                      \
	X(c11_condition,                                                       \
	  (ring(), mtx_lock(&c11_mutex), done = 1, cnd_signal(&c11_condition), \
	   mtx_unlock(&c11_mutex)),                                            \
	  c11_wait())

static int condition_wait(pthread_mutex_t *of, const struct timespec *until)
{
	int error = pthread_mutex_lock(of);

	while (!done && !error)
		error = pthread_cond_timedwait(&condition, of, until);
	return error ? error : pthread_mutex_unlock(of);
}

static int futex_wait(void)
{
	while (!done)
		syscall(SYS_futex, &done, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return 0;
}

static int c11_wait(void)
{
	int error = mtx_lock(&c11_mutex);

	while (!done && !error)
		error = cnd_wait(&c11_condition, &c11_mutex);
	return error ? error : mtx_unlock(&c11_mutex);
}

#define THREAD(name, action, wait)             \
	static int name##_thread(void *unused) \
	{                                      \
		(void)unused;                  \
		action;                        \
		return 42;                     \
	}
WAITS(THREAD)

static void *posix_thread(void *run)
{
	return ((int (*)(void *))run)(NULL) == 42 ? run : NULL;
}

/* Waits for the thread in C11's way, or with a limit. */
static int end_await(thrd_t c11, pthread_t posix, void *run)
{
	struct timespec real = in_a_minute(CLOCK_REALTIME);
	void *result = NULL;
	int number = 0;

	if (!run)
		return thrd_join(c11, &number) || number != 42;
	return pthread_timedjoin_np(posix, &result, &real) || result != run;
}

#define TRY(name, action, wait)                                             \
	{                                                                   \
		struct timespec real = in_a_minute(CLOCK_REALTIME);         \
		void *run = #name[0] == 'c' ? NULL : (void *)name##_thread; \
		pthread_t posix = pthread_self();                           \
		thrd_t c11 = thrd_current();                                \
		int error;                                                  \
                                                                            \
		held = done = 0;                                            \
		error = run ? pthread_create(&posix, NULL, posix_thread,    \
					     run) :                         \
			      thrd_create(&c11, name##_thread, NULL);       \
		while (!held && !error)                                     \
			sched_yield();                                      \
		error = error || (wait);                                    \
		if (end_await(c11, posix, run) || error)                    \
			printf("rank %d: %s fails\n", rank, #name);         \
	}

int main(int argc, char **argv)
{
	struct timespec late = in_a_minute(CLOCK_REALTIME);
	pthread_mutexattr_t attr;
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &attr);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	sem_init(&semaphore, 0, 0);
	mtx_init(&c11_mutex, mtx_plain);
	cnd_init(&c11_condition);
	WAITS(TRY)
	/* Limits that are over. */
	late.tv_sec -= 120;
	done = 0;
	if (condition_wait(&mutex, &late) != ETIMEDOUT ||
	    pthread_mutex_unlock(&mutex) ||
	    condition_wait(&recursive, &late) != ETIMEDOUT ||
	    pthread_mutex_unlock(&recursive) ||
	    sem_timedwait(&semaphore, &late) != -1 || errno != ETIMEDOUT ||
	    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &late, NULL))
		printf("rank %d: a limit is not heeded\n", rank);
	MPI_Finalize();
	printf("rank %d: done\n", rank);
	return 0;
}
