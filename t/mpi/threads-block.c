/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that waits for its own OS threads with pthread functions does not
 * block its worker, which runs the other ranks that those threads communicate
 * with.
 */
#include "mtap.h"

#include <pthread.h>
#include <semaphore.h>

#define THREADS 3
#define MESSAGES 100

static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int finished, wrong;

/* Numbers go round the ranks, a ring for each thread number. */
static void ring(int tag)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;

	for (int i = 0; i < MESSAGES; i++) {
		int mine = rank * MESSAGES + i, other = -1;

		MPI_Sendrecv(&mine, 1, MPI_INT, right, tag, &other, 1, MPI_INT,
			     left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (other != left * MESSAGES + i)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	}
}

static void *thread_main(void *arg)
{
	int tag = *(int *)arg;

	pthread_barrier_wait(&barrier);
	ring(tag);
	pthread_mutex_lock(&mutex);
	ring(THREADS); /* by the first; the others wait for the mutex */
	finished++;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	ring(tag);
	sem_post(&semaphore);
	ring(tag);
	return arg;
}

int main(int argc, char **argv)
{
	static int tags[THREADS];
	pthread_t threads[THREADS];
	bool joined = true;
	void *result;

	mtap_init(&argc, &argv);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	sem_init(&semaphore, 0, 0);
	for (int i = 0; i < THREADS; i++) {
		tags[i] = i;
		pthread_create(&threads[i], NULL, thread_main, &tags[i]);
	}
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&mutex);
	while (finished < THREADS)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	all_ok(finished == THREADS,
	       "a rank waits on a barrier and a condition");
	for (int i = 0; i < THREADS; i++)
		sem_wait(&semaphore);
	for (int i = 0; i < THREADS; i++)
		joined = !pthread_join(threads[i], &result) &&
			 result == &tags[i] && joined;
	all_ok(joined, "and on a semaphore, and joins its threads");
	all_ok(!wrong, "all messages of its threads arrived meanwhile");
	return mtap_end();
}
