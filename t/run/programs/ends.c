/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to end; argv[1] says which, the last rank takes it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* feenableexcept() */
#endif
#include <fenv.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void in_handler(void)
{
	printf("handler\n");
}

static void *thread_exit(void *arg)
{
	(void)arg;
	exit(6);
}

static void *thread_rank(void *arg)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return rank == *(int *)arg ? arg : NULL;
}

static int recurse(int depth)
{
	volatile char page[4096];

	memset((void *)page, depth, sizeof(page));
	return recurse(depth + 1) + page[depth % 4096];
}

static int end(const char *how)
{
	FILE *file;
	pthread_t thread;

	if (!strcmp(how, "exit"))
		exit(5);
	if (!strcmp(how, "_exit"))
		_exit(6);
	if (!strcmp(how, "_Exit"))
		_Exit(7);
	if (!strcmp(how, "quick_exit"))
		quick_exit(8);
	if (!strcmp(how, "return"))
		return 9;
	if (!strcmp(how, "exit256"))
		exit(256 + 3);
	if (!strcmp(how, "thread")) {
		pthread_create(&thread, NULL, thread_exit, NULL);
		pthread_join(thread, NULL);
	}
	if (!strcmp(how, "null"))
		*(volatile int *)(long)(how[0] - 'n') = 1;
	if (!strcmp(how, "overflow"))
		return recurse(0);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "divide")) {
		volatile double zero = 0;

		feenableexcept(FE_DIVBYZERO);
		return (int)(1 / zero);
	}
	if (!strcmp(how, "MPI_Abort"))
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (!strcmp(how, "unfinished"))
		exit(0);
	if (!strcmp(how, "file")) {
		file = fopen("written", "w");
		fprintf(file, "buffered\n");
		exit(5);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int rank, size, rc = 0, same = 1;

	if (!strcmp(how, "early"))
		return 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	atexit(in_handler);
	if (!strcmp(how, "threads")) {
		pthread_t thread;
		void *result;

		pthread_create(&thread, NULL, thread_rank, &rank);
		pthread_join(thread, &result);
		same = result == &rank;
	} else if (rank == size - 1) {
		rc = end(how);
	}
	if (rc)
		return rc;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return !same;
}
