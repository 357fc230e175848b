/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks of any MPI that measure something together.
 *
 * Both call pair_measure(); rank 0 decides how often the work is done and takes
 * the time, rank 1 follows.  What is timed begins when both are ready.
 */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include <mpi.h>
#include <stdio.h>

#include "clock.h"

enum { TAG_WORK, TAG_CONTROL };

/* Does its half of the work n times. */
typedef void (*pair_work)(int rank, int n, void *arg);

/* Begins MPI; says what is wrong and ends the program unless it has two ranks.
 */
static inline int pair_rank(int *argc, char ***argv)
{
	int rank, size;

	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size == 2)
		return rank;
	if (rank == 0)
		fprintf(stderr, "%s: started as %d ranks, 2 are needed\n",
			(*argv)[0], size);
	MPI_Finalize();
	exit(2);
}

static inline double pair_run(pair_work work, int n, void *arg)
{
	double start;

	MPI_Send(&n, 1, MPI_INT, 1, TAG_CONTROL, MPI_COMM_WORLD);
	MPI_Recv(&n, 1, MPI_INT, 1, TAG_CONTROL, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	start = now_ns();
	work(0, n, arg);
	return now_ns() - start;
}

static inline void pair_follow(pair_work work, void *arg)
{
	int n;

	for (;;) {
		MPI_Recv(&n, 1, MPI_INT, 0, TAG_CONTROL, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		MPI_Send(&n, 1, MPI_INT, 0, TAG_CONTROL, MPI_COMM_WORLD);
		if (n == 0)
			return;
		work(1, n, arg);
	}
}

/* On rank 0: the time of one repetition, the median over the batches. */
static inline double pair_measure(int rank, const struct effort *effort,
				  pair_work work, void *arg)
{
	double times[BATCHES_MAX], took;
	int n = 1;

	if (rank != 0) {
		pair_follow(work, arg);
		return 0;
	}
	/* Warms up as well. */
	while ((took = pair_run(work, n, arg)) < effort->batch_ns / 4)
		n *= 2;
	n = batch_size(effort, n, took);
	for (int i = 0; i < effort->batches; i++)
		times[i] = pair_run(work, n, arg) / n;
	n = 0;
	MPI_Send(&n, 1, MPI_INT, 1, TAG_CONTROL, MPI_COMM_WORLD);
	MPI_Recv(&n, 1, MPI_INT, 1, TAG_CONTROL, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	return median_of(times, effort->batches);
}

#endif
