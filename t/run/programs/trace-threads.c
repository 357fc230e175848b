/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks whose threads, the first and some more, exchange messages, each
 * with its tag.  Arguments: messages of each thread, and how many threads more.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define THREADS_MAX 16

static int rank, messages;

static void *thread(void *arg)
{
	int tag = (int)(intptr_t)arg, got;

	for (int i = 0; i < messages; i++)
		MPI_Sendrecv(&i, 1, MPI_INT, !rank, tag, &got, 1, MPI_INT,
			     !rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	int provided, count = argc > 2 ? atoi(argv[2]) : 1;

	messages = argc > 1 ? atoi(argv[1]) : 10;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, thread,
				   (void *)(intptr_t)(i + 1)))
			MPI_Abort(MPI_COMM_WORLD, 1);
	thread(NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	MPI_Finalize();
	return 0;
}
