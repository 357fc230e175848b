/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mutexes: held over switches, by tasks of ranks and of none and by threads;
 * turns in order; deadlines; mistakes.
 */
#include <pthread.h>

#include "core/job.h"

enum { TASKS = 24, ROUNDS = 40, THREADS = 3 };

static vmpi_mutex mutex;  /* as zeros */
static int inside, count; /* guarded by it */

/* Stays inside over a switch. */
static int enter(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		EXPECT(vmpi_mutex_lock(&mutex) == 0);
		EXPECT(++inside == 1);
		if (i % 4 == 0)
			vmpi_sleep(1000);
		else
			vmpi_yield();
		count++;
		EXPECT(--inside == 0);
		EXPECT(vmpi_mutex_unlock(&mutex) == 0);
	}
	return (int)(intptr_t)arg;
}

static void *enter_thread(void *arg)
{
	bool attached = arg && vmpi_attach(0) == 0;

	EXPECT(!arg || attached);
	enter(NULL);
	if (attached)
		vmpi_detach();
	return NULL;
}

static int rank_main(void *arg)
{
	vmpi_task *task;

	EXPECT(vmpi_spawn(&task, enter, NULL) == 0);
	enter(arg);
	EXPECT(vmpi_join(&task, NULL) == 0);
	return 0;
}

static void everybody(void)
{
	vmpi_config config = { .ranks = 3, .workers = 2 };
	pthread_t threads[THREADS];
	vmpi_task *tasks[TASKS];

	count = 0;
	EXPECT(vmpi_start(&config) == 0);
	for (int i = 0; i < TASKS; i++)
		EXPECT(vmpi_spawn(&tasks[i], enter, NULL) == 0);
	for (intptr_t i = 0; i < THREADS; i++)
		EXPECT(pthread_create(&threads[i], NULL, enter_thread,
				      (void *)(i % 2)) == 0);
	EXPECT(vmpi_run(NULL, rank_main, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < TASKS; i++)
		EXPECT(vmpi_join(&tasks[i], NULL) == 0);
	EXPECT(vmpi_stop() == 0);
	is_int(count, (TASKS + 2 * 3 + THREADS) * ROUNDS,
	       "tasks of ranks, tasks of none and threads are inside one by "
	       "one, also while they switch");
	is_int(job_faults_take(), 0, "... as each of them sees");
}

static int order[TASKS], ordered;

static int take_turn(void *arg)
{
	EXPECT(vmpi_mutex_lock(&mutex) == 0);
	order[ordered++] = (int)(intptr_t)arg;
	EXPECT(vmpi_mutex_unlock(&mutex) == 0);
	return 0;
}

/* Tasks of one rank come in the order in which they are made. */
static void turns(int rank, int size)
{
	vmpi_task *tasks[TASKS];

	(void)rank;
	(void)size;
	ordered = 0;
	EXPECT(vmpi_mutex_lock(&mutex) == 0);
	for (intptr_t i = 0; i < TASKS; i++)
		EXPECT(vmpi_spawn(&tasks[i], take_turn, (void *)i) == 0);
	vmpi_yield();
	EXPECT(ordered == 0);
	EXPECT(vmpi_mutex_unlock(&mutex) == 0);
	/* It was given to the first who waits. */
	EXPECT(vmpi_mutex_try(&mutex) == -VMPI_EAGAIN);
	for (int i = 0; i < TASKS; i++)
		EXPECT(vmpi_join(&tasks[i], NULL) == 0);
	for (int i = 0; i < TASKS; i++)
		EXPECT(order[i] == i);
}

static int too_late(void *arg)
{
	uint64_t soon = vmpi_time_ns() + 2000000;

	(void)arg;
	EXPECT(vmpi_mutex_lock_until(&mutex, 0) == -VMPI_ETIMEDOUT);
	EXPECT(vmpi_mutex_lock_until(&mutex, soon) == -VMPI_ETIMEDOUT);
	EXPECT(vmpi_time_ns() >= soon);
	EXPECT(vmpi_mutex_unlock(&mutex) == -VMPI_ESTATE);
	return 0;
}

static int in_time(void *arg)
{
	(void)arg;
	EXPECT(vmpi_mutex_lock_until(&mutex, VMPI_NEVER) == 0);
	EXPECT(vmpi_mutex_unlock(&mutex) == 0);
	return 0;
}

/* Who gives up leaves no trace in the queue. */
static void deadlines(int rank, int size)
{
	vmpi_task *late[TASKS], *task;

	(void)rank;
	(void)size;
	EXPECT(vmpi_mutex_lock(&mutex) == 0);
	for (int i = 0; i < TASKS / 2; i++)
		EXPECT(vmpi_spawn(&late[i], too_late, NULL) == 0);
	EXPECT(vmpi_spawn(&task, in_time, NULL) == 0);
	for (int i = TASKS / 2; i < TASKS; i++)
		EXPECT(vmpi_spawn(&late[i], too_late, NULL) == 0);
	for (int i = 0; i < TASKS; i++)
		EXPECT(vmpi_join(&late[i], NULL) == 0);
	EXPECT(vmpi_mutex_unlock(&mutex) == 0);
	EXPECT(vmpi_join(&task, NULL) == 0);
	EXPECT(vmpi_mutex_lock_until(&mutex, 0) == 0);
	EXPECT(vmpi_mutex_unlock(&mutex) == 0);
}

static void mistakes(int rank, int size)
{
	vmpi_mutex own = VMPI_MUTEX_INIT;

	(void)rank;
	(void)size;
	EXPECT(vmpi_mutex_lock(NULL) == -VMPI_EINVAL);
	EXPECT(vmpi_mutex_lock_until(NULL, 0) == -VMPI_EINVAL);
	EXPECT(vmpi_mutex_try(NULL) == -VMPI_EINVAL);
	EXPECT(vmpi_mutex_unlock(NULL) == -VMPI_EINVAL);
	EXPECT(vmpi_mutex_unlock(&own) == -VMPI_ESTATE);
	EXPECT(vmpi_mutex_try(&own) == 0);
	EXPECT(vmpi_mutex_try(&own) == -VMPI_ESTATE);
	EXPECT(vmpi_mutex_lock(&own) == -VMPI_ESTATE);
	EXPECT(vmpi_mutex_lock_until(&own, VMPI_NEVER) == -VMPI_ESTATE);
	EXPECT(vmpi_mutex_unlock(&own) == 0);
	EXPECT(vmpi_mutex_unlock(&own) == -VMPI_ESTATE);
}

/* Ranks on several workers race, some with deadlines. */
static void race(int rank, int size)
{
	(void)size;
	for (int i = 0; i < 20 * ROUNDS; i++) {
		uint64_t soon = vmpi_time_ns() + (unsigned)(i % 7) * 1000;

		if ((i + rank) % 3 == 0 &&
		    vmpi_mutex_lock_until(&mutex, soon) != 0)
			continue;
		else if ((i + rank) % 3 != 0)
			EXPECT(vmpi_mutex_lock(&mutex) == 0);
		EXPECT(++inside == 1);
		if (i % 5 == 0)
			vmpi_yield();
		EXPECT(--inside == 0);
		EXPECT(vmpi_mutex_unlock(&mutex) == 0);
	}
}

int main(void)
{
	/* Without a runtime only threads may be there. */
	is_int(vmpi_mutex_lock(&mutex), 0, "a mutex needs no runtime");
	is_int(vmpi_mutex_lock(&mutex), -VMPI_ESTATE, "... to know who has it");
	is_int(vmpi_mutex_unlock(&mutex), 0, "... and to be given back");
	everybody();
	job(1, 1, turns, "those who wait have their turns in order");
	job(1, 2, deadlines, "who gives up does not get it");
	job(2, 2, mistakes, "mistakes have the documented results");
	job(6, 3, race, "ranks that race and give up at times");
	return done_testing();
}
