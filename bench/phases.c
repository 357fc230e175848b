/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of two phases in turn, whose blocks have one size and whose best way of
 * sending them is not the same:
 *
 * stream	one rank makes blocks and sends each, the other adds them up: sent
 *		eagerly, the first one goes on with the next block.
 * exchange	both send each other many blocks at once and add up what comes: sent
 *		eagerly, each is copied twice and more lies about than fits in a
 *		cache.
 *
 *	phases BYTES BLOCKS STREAMS EXCHANGES PHASES
 *
 * STREAMS of BLOCKS, then EXCHANGES of BLOCKS, PHASES times.  Prints microseconds
 * for one of each, the medians of phases, and how long all took.  Run it with two
 * processes of one worker, as phases.sh does.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

#define PHASES_MAX 100
#define BLOCKS_MAX 256

static struct {
	int bytes, blocks, count[2], phases, rank;
	int doubles;	    /* of a block */
	double *own, *came; /* blocks */
} run;

static void add(double *sum, const double *block)
{
	for (int i = 0; i < run.doubles; i++)
		sum[i] += block[i];
}

/* Rank 0 makes one block after the other, rank 1 adds them up. */
static void stream(void)
{
	for (int i = 0; i < run.blocks; i++) {
		if (run.rank == 1) {
			MPI_Recv(run.came, run.bytes, MPI_CHAR, 0, 0,
				 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			add(run.own, run.came);
			continue;
		}
		add(run.came, run.own);
		MPI_Send(run.came, run.bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
	}
}

static void exchange(void)
{
	MPI_Request reqs[2 * BLOCKS_MAX];

	for (int i = 0; i < run.blocks; i++)
		MPI_Irecv(run.came + (size_t)i * run.doubles, run.bytes,
			  MPI_CHAR, !run.rank, 0, MPI_COMM_WORLD, &reqs[i]);
	for (int i = 0; i < run.blocks; i++)
		MPI_Isend(run.own + (size_t)i * run.doubles, run.bytes,
			  MPI_CHAR, !run.rank, 0, MPI_COMM_WORLD,
			  &reqs[run.blocks + i]);
	MPI_Waitall(2 * run.blocks, reqs, MPI_STATUSES_IGNORE);
	for (int i = 1; i < run.blocks; i++)
		add(run.came, run.came + (size_t)i * run.doubles);
}

static int order(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static int options(int argc, char **argv)
{
	if (argc != 6)
		return 0;
	run.bytes = atoi(argv[1]);
	run.blocks = atoi(argv[2]);
	run.count[0] = atoi(argv[3]);
	run.count[1] = atoi(argv[4]);
	run.phases = atoi(argv[5]);
	run.doubles = run.bytes / (int)sizeof(double);
	return run.doubles > 0 && run.blocks > 0 && run.blocks <= BLOCKS_MAX &&
	       run.count[0] > 0 && run.count[1] > 0 && run.phases > 0 &&
	       run.phases <= PHASES_MAX;
}

int main(int argc, char **argv)
{
	double times[2][PHASES_MAX], begin;
	size_t blocks;
	int size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!options(argc, argv) || size != 2) {
		fprintf(stderr, "phases: needs two ranks and BYTES BLOCKS "
				"STREAMS EXCHANGES PHASES\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	blocks = (size_t)run.blocks * (size_t)run.bytes;
	run.own = calloc(1, blocks);
	run.came = calloc(1, blocks);
	MPI_Barrier(MPI_COMM_WORLD);
	begin = now();
	for (int i = 0; i < 2 * run.phases; i++) {
		double start = now();

		for (int k = 0; k < run.count[i % 2]; k++)
			i % 2 ? exchange() : stream();
		MPI_Barrier(MPI_COMM_WORLD);
		times[i % 2][i / 2] = (now() - start) / run.count[i % 2];
	}
	for (int i = 0; i < 2; i++)
		qsort(times[i], (size_t)run.phases, sizeof(double), order);
	if (run.rank == 0)
		printf("stream %.2f us, exchange %.2f us, all %.2f s\n",
		       times[0][run.phases / 2], times[1][run.phases / 2],
		       (now() - begin) / 1e6);
	free(run.own);
	free(run.came);
	MPI_Finalize();
	return 0;
}
