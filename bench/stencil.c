/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stencil that does not overlap anything itself: each rank computes, then
 * exchanges four faces and waits.  The grid is a torus of two columns, one in
 * each process; of its faces only those that cross are exchanged, in halves, so
 * a rank has one neighbour and nothing goes by shared memory.  Computing alone,
 * exchanging alone and both are measured in turn: what the last takes beyond
 * the longer of the others is what was not overlapped.
 *
 *	stencil [--early] COMPUTE_US BYTES ITERATIONS REPEATS
 *
 * Amounts are those of a core and an iteration; its ranks share them.  --early:
 * computes between the start of the exchange and the wait.  Prints microseconds
 * per iteration, the medians of REPEATS, the medians of full / max(comp, comm)
 * and full / max(comp + cpu, comm), where cpu is the processor time that both
 * take beyond computing, and percentiles of the times in MPI_Waitall;
 * stencil.sh makes tables of that.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "work.h"

#define FACES 4
#define REPEATS_MAX 99
enum { COMPUTES = 1, EXCHANGES = 2 };

static struct {
	int early; /* the option */
	double compute_us;
	int bytes, iterations, repeats;
	int rank, ranks, half; /* half: ranks of a process */
	int neighbour;	       /* at the same place of the other half */
	long loops;	       /* that are its part of computing */
	char *out[FACES], *in[FACES];
	double *waits; /* of the measurements with both */
	int wait_count;
	MPI_Comm comm;
} run;

static int order(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), order);
	return values[count / 2];
}

/* The number of loops that are the rank's part of a core's computation. */
static void calibrate(void)
{
	run.loops = work_loops(run.compute_us / run.half);
}

static void exchange(int computes)
{
	MPI_Request reqs[2 * FACES];
	double start;

	for (int i = 0; i < FACES; i++)
		MPI_Irecv(run.in[i], run.bytes, MPI_CHAR, run.neighbour, i,
			  run.comm, &reqs[i]);
	for (int i = 0; i < FACES; i++)
		MPI_Isend(run.out[i], run.bytes, MPI_CHAR, run.neighbour, i,
			  run.comm, &reqs[FACES + i]);
	if (computes && run.early)
		work(run.loops);
	start = now();
	MPI_Waitall(2 * FACES, reqs, MPI_STATUSES_IGNORE);
	if (computes)
		run.waits[run.wait_count++] = now() - start;
}

/* Microseconds of processor time that the rank's process has taken. */
static double processor(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* The largest span of a half, of those at `first` of four. */
static double slowest(const double *spans, int first)
{
	double most = 0;

	for (int half = 0; half < 2; half++) {
		double begin = 1e30, end = 0;

		for (int i = half * run.half; i < (half + 1) * run.half; i++) {
			if (spans[4 * i + first] < begin)
				begin = spans[4 * i + first];
			if (spans[4 * i + first + 1] > end)
				end = spans[4 * i + first + 1];
		}
		if (end - begin > most)
			most = end - begin;
	}
	return most;
}

/* Microseconds per iteration of that, of the slower half; *cpu: of processor
 * time. */
static double phase(int what, double *cpu)
{
	double span[4], *spans = malloc(sizeof(span) * (size_t)run.ranks);
	double time;

	MPI_Barrier(run.comm);
	span[0] = now();
	span[2] = processor();
	for (int i = 0; i < run.iterations; i++) {
		if (what & COMPUTES && !(what & EXCHANGES && run.early))
			work(run.loops);
		if (what & EXCHANGES)
			exchange(what & COMPUTES);
	}
	span[1] = now();
	span[3] = processor();
	MPI_Allgather(span, 4, MPI_DOUBLE, spans, 4, MPI_DOUBLE, run.comm);
	time = slowest(spans, 0) / run.iterations;
	*cpu = slowest(spans, 2) / run.iterations;
	free(spans);
	return time;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static void measure(void)
{
	double comp[REPEATS_MAX], comm[REPEATS_MAX], full[REPEATS_MAX];
	double ratio[REPEATS_MAX], hidden[REPEATS_MAX], cpu[REPEATS_MAX];
	double alone, both;

	phase(EXCHANGES, &both); /* connections are made */
	for (int i = 0; i < run.repeats; i++) {
		comp[i] = phase(COMPUTES, &alone);
		comm[i] = phase(EXCHANGES, &both);
		full[i] = phase(COMPUTES | EXCHANGES, &both);
		cpu[i] = larger(both - alone, 0);
		ratio[i] = full[i] / larger(comp[i], comm[i]);
		hidden[i] = full[i] / larger(comp[i] + cpu[i], comm[i]);
	}
	if (run.rank == 0)
		printf("times %.0f %.0f %.0f %.3f %.0f %.3f\n",
		       median(comp, run.repeats), median(comm, run.repeats),
		       median(full, run.repeats), median(ratio, run.repeats),
		       median(cpu, run.repeats), median(hidden, run.repeats));
}

/* Prints the waits of all ranks. */
static void distribution(void)
{
	int count = run.wait_count * run.ranks;
	double *all = malloc(sizeof(double) * (size_t)count);

	MPI_Gather(run.waits, run.wait_count, MPI_DOUBLE, all, run.wait_count,
		   MPI_DOUBLE, 0, run.comm);
	if (run.rank == 0) {
		qsort(all, (size_t)count, sizeof(*all), order);
		printf("waits");
		for (int percent = 5; percent < 100; percent += 5)
			printf(" %.0f", all[count * percent / 100]);
		printf("\n");
		fflush(stdout);
	}
	free(all);
}

static int options(int argc, char **argv)
{
	int i = 1;

	if (argc > 1 && !strcmp(argv[1], "--early"))
		run.early = i++;
	if (argc - i != 4)
		return 0;
	run.compute_us = atof(argv[i]);
	run.bytes = atoi(argv[i + 1]);
	run.iterations = atoi(argv[i + 2]);
	run.repeats = atoi(argv[i + 3]);
	return run.compute_us > 0 && run.bytes > 0 && run.iterations > 0 &&
	       run.repeats > 0 && run.repeats <= REPEATS_MAX;
}

static void place(void)
{
	run.comm = MPI_COMM_WORLD;
	MPI_Comm_rank(run.comm, &run.rank);
	MPI_Comm_size(run.comm, &run.ranks);
	run.half = run.ranks / 2;
	if (run.ranks % 2) {
		fprintf(stderr, "stencil: needs an even number of ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	run.neighbour = (run.rank + run.half) % run.ranks;
	run.bytes /= FACES * run.half;
	run.waits = malloc((size_t)run.iterations * (size_t)run.repeats *
			   sizeof(double));
	for (int i = 0; i < FACES; i++) {
		run.out[i] = calloc(1, (size_t)run.bytes);
		run.in[i] = calloc(1, (size_t)run.bytes);
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	if (!options(argc, argv)) {
		fprintf(stderr, "stencil: needs [--early] COMPUTE_US BYTES "
				"ITERATIONS REPEATS\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	place();
	calibrate();
	measure();
	distribution();
	MPI_Finalize();
	return 0;
}
