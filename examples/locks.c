/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * locks: tasks, ranks and a thread share a bounded queue.
 *
 * Rank 0 and its tasks put jobs into a queue with few places, which a mutex
 * guards; who finds it full or empty waits on a condition, and its worker runs
 * somebody else.  The other ranks, a task of no rank and an OS thread take them
 * out.  Nobody begins before an event says that all is ready.
 */
#include <pthread.h>
#include <stdio.h>
#include <vmpi.h>

enum { RANKS = 4, MAKERS = 3, JOBS = 400, PLACES = 5, STOP = -1 };

static struct {
	vmpi_mutex mutex; /* guards all */
	vmpi_cond not_full, not_empty;
	int jobs[PLACES], first, count;
	int most; /* jobs that were in it at a time */
} queue = { .mutex = VMPI_MUTEX_INIT,
	    .not_full = VMPI_COND_INIT,
	    .not_empty = VMPI_COND_INIT };

static vmpi_event ready = VMPI_EVENT_INIT;

/* What was taken out, by everybody. */
static struct {
	vmpi_mutex mutex;
	int jobs;
	long sum;
} done = { .mutex = VMPI_MUTEX_INIT };

static int put(int job)
{
	vmpi_mutex_lock(&queue.mutex);
	while (queue.count == PLACES)
		vmpi_cond_wait(&queue.not_full, &queue.mutex);
	queue.jobs[(queue.first + queue.count++) % PLACES] = job;
	if (queue.most < queue.count)
		queue.most = queue.count;
	vmpi_cond_signal(&queue.not_empty);
	return vmpi_mutex_unlock(&queue.mutex);
}

static int take(void)
{
	int job;

	vmpi_mutex_lock(&queue.mutex);
	while (queue.count == 0)
		vmpi_cond_wait(&queue.not_empty, &queue.mutex);
	job = queue.jobs[queue.first];
	queue.first = (queue.first + 1) % PLACES;
	queue.count--;
	vmpi_cond_signal(&queue.not_full);
	vmpi_mutex_unlock(&queue.mutex);
	return job;
}

/* Takes jobs until it is told to stop. */
static int work(void *arg)
{
	long sum = 0;
	int jobs = 0, job;

	(void)arg;
	vmpi_event_wait(&ready);
	while ((job = take()) != STOP) {
		sum += job;
		jobs++;
	}
	vmpi_mutex_lock(&done.mutex);
	done.sum += sum;
	done.jobs += jobs;
	return vmpi_mutex_unlock(&done.mutex);
}

static void *work_thread(void *arg)
{
	work(NULL);
	return arg;
}

static int make(void *arg)
{
	(void)arg;
	vmpi_event_wait(&ready);
	for (int job = 1; job <= JOBS; job++)
		put(job);
	return 0;
}

/* Rank 0 has tasks that make jobs, and tells all others when to stop: the other
 * ranks, the task and the thread. */
static int body(void *arg)
{
	vmpi_task *makers[MAKERS];

	if (vmpi_rank() != 0)
		return work(arg);
	for (int i = 0; i < MAKERS; i++)
		if (vmpi_spawn(&makers[i], make, NULL) != 0)
			return 1;
	vmpi_event_set(&ready);
	for (int i = 0; i < MAKERS; i++)
		vmpi_join(&makers[i], NULL);
	for (int i = 0; i < RANKS - 1 + 2; i++)
		put(STOP);
	return 0;
}

int main(void)
{
	const long all = (long)MAKERS * JOBS, sum = all * (JOBS + 1) / 2;
	pthread_t thread;
	vmpi_task *task;
	int rc = vmpi_start(&(vmpi_config){ .ranks = RANKS, .workers = 2 });

	if (rc == 0)
		rc = vmpi_spawn(&task, work, NULL);
	if (rc == 0 && pthread_create(&thread, NULL, work_thread, NULL))
		rc = -VMPI_ELIMIT;
	if (rc == 0)
		rc = vmpi_run(NULL, body, NULL);
	if (rc != 0) {
		fprintf(stderr, "locks: %s\n", vmpi_strerror(rc));
		return 1;
	}
	pthread_join(thread, NULL);
	vmpi_join(&task, NULL);
	vmpi_stop();
	printf("%d of %ld jobs, at most %d at a time\n", done.jobs, all,
	       queue.most);
	return done.jobs == all && done.sum == sum && queue.most <= PLACES ? 0 :
									     1;
}
