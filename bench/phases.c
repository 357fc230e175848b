/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An application of two phases in turn, each of which has its own best way for
 * long messages from rank 1 to rank 0:
 *
 * late receiver   rank 1 waits for its send, then computes; rank 0 computes,
 *			posts its receive, computes on and waits.  Written, the
 *			message is done when rank 0 has asked for it; read, when
 *			rank 0 looks again.
 * late sender		rank 0 waits for its receive, then computes; rank 1
 *			computes, starts its send, computes on and waits.  Read,
 *			the message moves at once; written, when rank 1 looks.
 *
 *	phases BYTES COMPUTE_US ITERATIONS PHASES
 *
 * Prints milliseconds per iteration of each kind of phase, the medians of
 * phases, and how long all took.  Run it with two processes of one worker on
 * the link model, by each core_rndv_protocol and with --tune=rndv.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

#define PHASES_MAX 100

static struct {
	int bytes, iterations, phases, rank;
	double compute_us;
	long loops; /* that take so long */
	char *buffer;
} run;

static void calibrate(void)
{
	run.loops = work_loops(run.compute_us);
}

/* The one that computes on while the message is under way, or the one that
 * waits for it. */
static void message(int computes)
{
	MPI_Request req;

	if (computes)
		work(run.loops / 2);
	if (run.rank)
		MPI_Isend(run.buffer, run.bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD,
			  &req);
	else
		MPI_Irecv(run.buffer, run.bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD,
			  &req);
	if (computes)
		work(run.loops);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
	if (!computes)
		work(run.loops / 2);
}

static int order(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static int options(int argc, char **argv)
{
	if (argc != 5)
		return 0;
	run.bytes = atoi(argv[1]);
	run.compute_us = atof(argv[2]);
	run.iterations = atoi(argv[3]);
	run.phases = atoi(argv[4]);
	return run.bytes > 0 && run.compute_us > 0 && run.iterations > 0 &&
	       run.phases > 0 && run.phases <= PHASES_MAX;
}

int main(int argc, char **argv)
{
	double times[2][PHASES_MAX], begin;
	int size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!options(argc, argv) || size != 2) {
		fprintf(stderr, "phases: needs two ranks and BYTES COMPUTE_US "
				"ITERATIONS PHASES\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	run.buffer = calloc(1, (size_t)run.bytes);
	calibrate();
	MPI_Barrier(MPI_COMM_WORLD);
	begin = now();
	for (int i = 0; i < 2 * run.phases; i++) {
		double start = now();

		/* In even ones rank 0 computes on, in odd ones rank 1. */
		for (int k = 0; k < run.iterations; k++)
			message(run.rank == i % 2);
		MPI_Barrier(MPI_COMM_WORLD);
		times[i % 2][i / 2] = (now() - start) / run.iterations / 1e3;
	}
	for (int i = 0; i < 2; i++)
		qsort(times[i], (size_t)run.phases, sizeof(double), order);
	if (run.rank == 0)
		printf("late receiver %.2f ms, late sender %.2f ms, all %.2f "
		       "s\n",
		       times[0][run.phases / 2], times[1][run.phases / 2],
		       (now() - begin) / 1e6);
	free(run.buffer);
	MPI_Finalize();
	return 0;
}
