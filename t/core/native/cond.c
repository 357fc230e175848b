/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conditions: a bounded queue between ranks, tasks and threads; who is woken;
 * deadlines; mistakes.
 */
#include <pthread.h>

#include "core/job.h"

enum { ROOM = 3, ITEMS = 300, RANKS = 4 };

static vmpi_mutex mutex = VMPI_MUTEX_INIT;
static vmpi_cond not_full = VMPI_COND_INIT, not_empty = VMPI_COND_INIT;
static int items[ROOM], first, held;
static long sum;

static void put(int item)
{
	EXPECT(vmpi_mutex_lock(&mutex) == 0);
	while (held == ROOM)
		EXPECT(vmpi_cond_wait(&not_full, &mutex) == 0);
	items[(first + held++) % ROOM] = item;
	EXPECT(vmpi_cond_signal(&not_empty) == 0);
	EXPECT(vmpi_mutex_unlock(&mutex) == 0);
}

static int get(void)
{
	int item;

	EXPECT(vmpi_mutex_lock(&mutex) == 0);
	while (held == 0)
		EXPECT(vmpi_cond_wait(&not_empty, &mutex) == 0);
	item = items[first];
	first = (first + 1) % ROOM;
	held--;
	EXPECT(vmpi_cond_signal(&not_full) == 0);
	EXPECT(vmpi_mutex_unlock(&mutex) == 0);
	return item;
}

static void *consume(void *arg)
{
	long own = 0;

	for (int i = 0; i < ITEMS; i++)
		own += get();
	__atomic_fetch_add(&sum, own, __ATOMIC_RELAXED);
	return arg;
}

static int produce(void *arg)
{
	(void)arg;
	for (int i = 1; i <= ITEMS; i++)
		put(i);
	return 0;
}

/* A rank produces by itself and by a task, consumes by a task of none and by a
 * thread. */
static void queue(int rank, int size)
{
	vmpi_task *task;

	(void)size;
	if (rank % 2) {
		consume(NULL);
		return;
	}
	EXPECT(vmpi_spawn(&task, produce, NULL) == 0);
	EXPECT(vmpi_join(&task, NULL) == 0);
}

/* Beside the ranks. */
static void with_threads(void)
{
	vmpi_config config = { .ranks = RANKS, .workers = 2 };
	void (*body)(int rank, int size) = queue;
	pthread_t threads[2];
	vmpi_task *tasks[2];

	sum = 0;
	EXPECT(vmpi_start(&config) == 0);
	for (int i = 0; i < 2; i++) {
		EXPECT(pthread_create(&threads[i], NULL, consume, NULL) == 0);
		EXPECT(vmpi_spawn(&tasks[i], produce, NULL) == 0);
	}
	EXPECT(vmpi_run(NULL, job_main, &body) == 0);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		EXPECT(vmpi_join(&tasks[i], NULL) == 0);
	}
	EXPECT(vmpi_stop() == 0);
	is_int(sum, 4L * ITEMS * (ITEMS + 1) / 2,
	       "all that ranks, tasks and threads put into a queue comes out");
	is_int(job_faults_take(), 0, "... without a fault");
}

static int woken, waiting;

static int wait_for_signal(void *arg)
{
	(void)arg;
	EXPECT(vmpi_mutex_lock(&mutex) == 0);
	waiting++;
	EXPECT(vmpi_cond_wait(&not_empty, &mutex) == 0);
	woken++;
	EXPECT(vmpi_mutex_unlock(&mutex) == 0);
	return 0;
}

static int give_up(void *arg)
{
	uint64_t soon = vmpi_time_ns() + 1000000;

	(void)arg;
	EXPECT(vmpi_mutex_lock(&mutex) == 0);
	EXPECT(vmpi_cond_wait_until(&not_empty, &mutex, soon) ==
	       -VMPI_ETIMEDOUT);
	EXPECT(vmpi_time_ns() >= soon);
	/* It has the mutex again. */
	EXPECT(vmpi_mutex_unlock(&mutex) == 0);
	return 0;
}

/* A signal wakes one who waits, a broadcast all; nothing else does. */
static void wakes(int rank, int size)
{
	enum { TASKS = 6 };
	vmpi_task *tasks[TASKS], *late;

	(void)rank;
	(void)size;
	woken = waiting = 0;
	EXPECT(vmpi_cond_signal(&not_empty) == 0); /* nobody: it is lost */
	for (int i = 0; i < TASKS; i++)
		EXPECT(vmpi_spawn(&tasks[i], wait_for_signal, NULL) == 0);
	EXPECT(vmpi_spawn(&late, give_up, NULL) == 0);
	EXPECT(vmpi_join(&late, NULL) == 0);
	EXPECT(waiting == TASKS && woken == 0);
	EXPECT(vmpi_cond_signal(&not_empty) == 0);
	EXPECT(vmpi_join(&tasks[0], NULL) == 0);
	EXPECT(woken == 1);
	EXPECT(vmpi_cond_broadcast(&not_empty) == 0);
	for (int i = 1; i < TASKS; i++)
		EXPECT(vmpi_join(&tasks[i], NULL) == 0);
	EXPECT(woken == TASKS);
	EXPECT(vmpi_cond_broadcast(&not_empty) == 0);
}

static void mistakes(int rank, int size)
{
	vmpi_mutex own = VMPI_MUTEX_INIT;
	vmpi_cond cond = VMPI_COND_INIT;

	(void)rank;
	(void)size;
	EXPECT(vmpi_cond_wait(NULL, &own) == -VMPI_EINVAL);
	EXPECT(vmpi_cond_wait(&cond, NULL) == -VMPI_EINVAL);
	EXPECT(vmpi_cond_wait_until(NULL, &own, 0) == -VMPI_EINVAL);
	EXPECT(vmpi_cond_signal(NULL) == -VMPI_EINVAL);
	EXPECT(vmpi_cond_broadcast(NULL) == -VMPI_EINVAL);
	EXPECT(vmpi_cond_wait(&cond, &own) == -VMPI_ESTATE);
	EXPECT(vmpi_mutex_try(&own) == 0); /* and nobody has the mutex */
	EXPECT(vmpi_cond_wait_until(&cond, &own, 0) == -VMPI_ETIMEDOUT);
	EXPECT(vmpi_mutex_unlock(&own) == 0);
}

int main(void)
{
	job(RANKS, 2, queue, "ranks and their tasks share a queue");
	with_threads();
	job(1, 2, wakes, "a signal wakes one, a broadcast all");
	job(2, 2, mistakes, "mistakes have the documented results");
	return done_testing();
}
