/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stencil of the thesis on the tools interface (chapter III, table 5): a
 * periodic grid of three dimensions whose ranks exchange halos by nonblocking
 * calls and compute between the start of that and the wait, about as long as
 * the exchange takes.  All messages have one size.
 *
 *	stencil3d [--quiet MS] BYTES FIELDS LOOPS ITERATIONS
 *
 * Each of the six faces sends FIELDS messages.  The run comes first, then as
 * many iterations as a tenth of it has that only compute and only exchange.
 * With --quiet the program goes on with small messages for so long, a phase in
 * which what the halos needed is needed no more.  LOOPS is the work of an
 * iteration, the same for all runs that are compared; 0: only exchanges, and says
 * how many loops take as long.
 *
 * Prints microseconds per iteration, the median, of all three kinds, how long
 * the run took in all, and after which part of it the iterations took no longer
 * than 1.05 times those of its second half, and the median of that; stencil3d.sh
 * makes a table of it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

#define FACES 6
#define FIELDS_MAX 32
#define WINDOW 9 /* iterations of which the median counts */
enum { COMPUTES = 1, EXCHANGES = 2 };

static struct {
	double quiet_ms;
	int bytes, fields, iterations;
	int rank, ranks;
	int neighbour[FACES];
	long loops;
	char *out[FACES], *in[FACES]; /* all fields of a face */
	MPI_Comm grid;
} run;

static void iterate(int what)
{
	MPI_Request reqs[2 * FACES * FIELDS_MAX];
	int count = 0;

	for (int face = 0; face < FACES && what & EXCHANGES; face++)
		for (int f = 0; f < run.fields; f++)
			MPI_Irecv(run.in[face] + (size_t)f * run.bytes,
				  run.bytes, MPI_CHAR, run.neighbour[face],
				  face ^ 1, run.grid, &reqs[count++]);
	for (int face = 0; face < FACES && what & EXCHANGES; face++)
		for (int f = 0; f < run.fields; f++)
			MPI_Isend(run.out[face] + (size_t)f * run.bytes,
				  run.bytes, MPI_CHAR, run.neighbour[face],
				  face, run.grid, &reqs[count++]);
	if (what & COMPUTES)
		work(run.loops);
	MPI_Waitall(count, reqs, MPI_STATUSES_IGNORE);
}

static int order(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(const double *values, int count)
{
	double *sorted = malloc(sizeof(*sorted) * (size_t)count), middle;

	memcpy(sorted, values, sizeof(*sorted) * (size_t)count);
	qsort(sorted, (size_t)count, sizeof(*sorted), order);
	middle = sorted[count / 2];
	free(sorted);
	return middle;
}

/* So many iterations; the time of each goes to times. */
static void phase(int what, int count, double *times)
{
	MPI_Barrier(run.grid);
	for (int i = 0; i < count; i++) {
		double start = now();

		iterate(what);
		times[i] = now() - start;
	}
}

/* Messages of a few bytes. */
static void quiet(void)
{
	int over = 0;

	for (double end = now() + run.quiet_ms * 1e3; !over;) {
		over = now() >= end;
		MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MAX,
			      run.grid);
	}
}

/* Of the second half of the run. */
static double later(const double *times)
{
	int half = run.iterations / 2;

	return median(times + half, run.iterations - half);
}

/* The first iteration from which a few in a row are as fast as the second half
 * of the run, as a part of the run's time, in percent. */
static double settled(const double *times, double total)
{
	int half = run.iterations / 2, i;
	double goal = 1.05 * later(times);
	double until = 0;

	for (i = 0; i + WINDOW <= half; i++) {
		if (median(times + i, WINDOW) <= goal)
			break;
		until += times[i];
	}
	return 100 * until / total;
}

static void measure(void)
{
	int few = run.iterations / 10 > WINDOW ? run.iterations / 10 : WINDOW;
	double *both = calloc((size_t)run.iterations, sizeof(*both));
	double *part = calloc((size_t)few, sizeof(*part));
	double begin = now(), total, comp, comm;

	if (run.loops)
		phase(COMPUTES | EXCHANGES, run.iterations, both);
	total = now() - begin;
	phase(EXCHANGES, few, part);
	comm = median(part, few);
	phase(COMPUTES, few, part);
	comp = median(part, few);
	if (run.quiet_ms > 0)
		quiet();
	if (run.rank == 0 && run.loops)
		printf("times %.0f %.0f %.0f total %.0f settled %.1f half %.0f\n",
		       comp, comm, median(both, run.iterations), total / 1e3,
		       settled(both, total), later(both));
	if (run.rank == 0 && !run.loops)
		printf("exchange %.0f loops %ld\n", comm, work_loops(comm));
	free(both);
	free(part);
}

static int options(int argc, char **argv)
{
	int i = 1;

	if (argc > 2 && !strcmp(argv[1], "--quiet")) {
		run.quiet_ms = atof(argv[2]);
		i = 3;
	}
	if (argc - i != 4)
		return 0;
	run.bytes = atoi(argv[i]);
	run.fields = atoi(argv[i + 1]);
	run.loops = atol(argv[i + 2]);
	run.iterations = atoi(argv[i + 3]);
	return run.bytes > 0 && run.fields > 0 && run.fields <= FIELDS_MAX &&
	       run.loops >= 0 && run.iterations > 1;
}

static void place(void)
{
	int dims[3] = { 0, 0, 0 }, periods[3] = { 1, 1, 1 };
	size_t bytes = (size_t)run.bytes * (size_t)run.fields;

	MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
	MPI_Dims_create(run.ranks, 3, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &run.grid);
	MPI_Comm_rank(run.grid, &run.rank);
	for (int d = 0; d < 3; d++)
		MPI_Cart_shift(run.grid, d, 1, &run.neighbour[2 * d],
			       &run.neighbour[2 * d + 1]);
	for (int face = 0; face < FACES; face++) {
		run.out[face] = calloc(1, bytes);
		run.in[face] = calloc(1, bytes);
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	if (!options(argc, argv)) {
		fprintf(stderr, "stencil3d: needs [--quiet MS] BYTES FIELDS "
				"LOOPS ITERATIONS\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	place();
	measure();
	MPI_Comm_free(&run.grid);
	MPI_Finalize();
	return 0;
}
