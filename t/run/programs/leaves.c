/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leaves THREADS: the main threads of all ranks end by pthread_exit(); each
 * rank's threads send a message around the ranks, and the last of them
 * finalizes.  With 0 threads main finalizes itself.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, size;
static _Atomic int left;

static void said(void)
{
	printf("rank %d ends\n", rank);
}

static void cleanup(void *name)
{
	printf("rank %d cleans %s\n", rank, (const char *)name);
}

static void *thread_main(void *arg)
{
	int number = (int)(intptr_t)arg, from = -1;

	usleep(10000);
	MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, number, &from, 1,
		     MPI_INT, (rank + size - 1) % size, number, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	if (from != (rank + size - 1) % size)
		abort();
	if (atomic_fetch_sub(&left, 1) == 1)
		MPI_Finalize();
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = atoi(argv[1]), level;
	pthread_attr_t detached;
	pthread_t thread;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	atexit(said);
	left = threads;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread, i % 2 ? &detached : NULL,
				   thread_main, (void *)(intptr_t)i))
			return 9;
	if (!threads)
		MPI_Finalize();
	pthread_cleanup_push(cleanup, "last");
	pthread_cleanup_push(cleanup, "never");
	usleep(1000); /* the other ranks push theirs, too */
	pthread_cleanup_pop(0);
	pthread_cleanup_push(cleanup, "first");
	pthread_exit(NULL);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
}
