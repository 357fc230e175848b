/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heat: cooling of a square plate, in the style of an old MPI program.
 *
 * Jacobi steps on a grid of cells x cells points with a border of 0, cut into
 * blocks in two dimensions; blocking calls, everything in globals and statics.
 * The start is a sum of two eigenmodes of the discrete operator, so the answer
 * after any number of steps is known in closed form.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* The user's choices. */
int cells = 512;
int steps = 200;
int report_every = 100;

/* The rank and its block; each rank writes its own. */
int my_rank = -1, rank_count;
int dims[2], coords[2];
int north, south, west, east; /* neighbours */
int rows, cols;		      /* of my block */
int first_row, first_col;     /* of my block in the whole grid, from 1 */

double *grid, *next; /* my block with a frame of one point around it */
static MPI_Comm plate;
static MPI_Datatype column;

/* Counts of this rank, to be compared at the end. */
static int set_up;	  /* once by each rank: 1 */
static int *set_up_place; /* where that is */
static long steps_done, exchanges;
__thread int thread_mark;
double residual;

/* The initial amplitudes of the modes sin(p pi x) sin(q pi y). */
static const struct {
	int p, q;
	double amplitude;
} modes[] = { { 1, 1, 1.0 }, { 3, 2, 0.5 } };

#define MODES (sizeof(modes) / sizeof(modes[0]))

static double *at(double *block, int row, int col)
{
	return block + (size_t)row * (size_t)(cols + 2) + col;
}

/* All ranks find the same mistake: one says so and ends the job. */
static void give_up(const char *what, const char *value)
{
	if (my_rank == 0) {
		fprintf(stderr,
			"heat: %s: '%s'\n"
			"usage: heat [cells [steps [report]]]: points per side "
			"(from 8), steps, steps between two lines of output\n",
			what, value);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static int number(const char *text, long least)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || end == text || value < least || value > 1000000)
		give_up("not a number in range", text);
	return (int)value;
}

static void arguments(int argc, char **argv)
{
	if (argc > 4)
		give_up("too many arguments", argv[4]);
	if (argc > 1)
		cells = number(argv[1], 8);
	if (argc > 2)
		steps = number(argv[2], 1);
	if (argc > 3)
		report_every = number(argv[3], 1);
}

/* My share of `cells` in one dimension: the first ones get one more. */
static int share(int dim, int *first)
{
	int least = cells / dims[dim], more = cells % dims[dim];
	int me = coords[dim];

	*first = 1 + me * least + (me < more ? me : more);
	return least + (me < more);
}

static void decompose(void)
{
	static const int periods[2];
	char text[24];

	MPI_Dims_create(rank_count, 2, dims);
	snprintf(text, sizeof(text), "%d", dims[0]);
	if (dims[0] > cells || dims[1] > cells)
		give_up("more blocks per side than points", text);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &plate);
	MPI_Cart_coords(plate, my_rank, 2, coords);
	MPI_Cart_shift(plate, 0, 1, &north, &south);
	MPI_Cart_shift(plate, 1, 1, &west, &east);
	rows = share(0, &first_row);
	cols = share(1, &first_col);
	MPI_Type_vector(rows, 1, cols + 2, MPI_DOUBLE, &column);
	MPI_Type_commit(&column);
}

/* Mode `m` at a point of the whole grid, as it was at the start. */
static double mode_at(unsigned m, int row, int col)
{
	double h = PI / (cells + 1);

	return modes[m].amplitude * sin(modes[m].p * row * h) *
	       sin(modes[m].q * col * h);
}

/* By how much a step shrinks mode `m`. */
static double mode_factor(unsigned m)
{
	double h = PI / (cells + 1);
	double a = sin(modes[m].p * h / 2), b = sin(modes[m].q * h / 2);

	return 1 - a * a - b * b;
}

static void blocks_new(void)
{
	size_t points = (size_t)(rows + 2) * (size_t)(cols + 2);

	grid = calloc(points, sizeof(*grid));
	next = calloc(points, sizeof(*next));
	if (!grid || !next) {
		fprintf(stderr, "heat: rank %d: no memory for %zu points\n",
			my_rank, points);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (int i = 1; i <= rows; i++)
		for (int j = 1; j <= cols; j++)
			for (unsigned m = 0; m < MODES; m++)
				*at(grid, i, j) += mode_at(m, first_row + i - 1,
							   first_col + j - 1);
	set_up++;
	set_up_place = &set_up;
	thread_mark = my_rank;
}

/* The frame of my block from the four neighbours; at the border of the plate
 * they are MPI_PROC_NULL and the frame stays 0. */
static void exchange(void)
{
	enum { UP, DOWN, LEFT, RIGHT };

	MPI_Sendrecv(at(grid, 1, 1), cols, MPI_DOUBLE, north, UP,
		     at(grid, rows + 1, 1), cols, MPI_DOUBLE, south, UP, plate,
		     MPI_STATUS_IGNORE);
	MPI_Sendrecv(at(grid, rows, 1), cols, MPI_DOUBLE, south, DOWN,
		     at(grid, 0, 1), cols, MPI_DOUBLE, north, DOWN, plate,
		     MPI_STATUS_IGNORE);
	MPI_Sendrecv(at(grid, 1, 1), 1, column, west, LEFT,
		     at(grid, 1, cols + 1), 1, column, east, LEFT, plate,
		     MPI_STATUS_IGNORE);
	MPI_Sendrecv(at(grid, 1, cols), 1, column, east, RIGHT, at(grid, 1, 0),
		     1, column, west, RIGHT, plate, MPI_STATUS_IGNORE);
	exchanges++;
}

static void step(void)
{
	double *swap;

	for (int i = 1; i <= rows; i++) {
		const double *up = at(grid, i - 1, 0), *here = at(grid, i, 0);
		const double *down = at(grid, i + 1, 0);
		double *restrict to = at(next, i, 0);
		int n = cols;

		for (int j = 1; j <= n; j++)
			to[j] = 0.25 * ((up[j] + down[j]) +
					(here[j - 1] + here[j + 1]));
	}
	swap = grid;
	grid = next;
	next = swap;
	steps_done++;
}

/* The change by the last step, over all ranks. */
static double change(void)
{
	double mine = 0, all;

	for (int i = 1; i <= rows; i++)
		for (int j = 1; j <= cols; j++) {
			double d = *at(grid, i, j) - *at(next, i, j);

			mine += d * d;
		}
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, plate);
	return sqrt(all) / cells;
}

static void solve(void)
{
	for (int s = 1; s <= steps; s++) {
		exchange();
		step();
		if (s % report_every == 0 || s == steps) {
			residual = change();
			if (my_rank == 0)
				printf("step %6d  residual %.6e\n", s,
				       residual);
		}
	}
}

/* The largest distance from the closed form, relative to its largest value. */
static double answer_error(void)
{
	double mine[2] = { 0, 0 }, all[2], decay[MODES];

	for (unsigned m = 0; m < MODES; m++)
		decay[m] = pow(mode_factor(m), steps);
	for (int i = 1; i <= rows; i++)
		for (int j = 1; j <= cols; j++) {
			double want = 0;

			for (unsigned m = 0; m < MODES; m++)
				want += decay[m] * mode_at(m, first_row + i - 1,
							   first_col + j - 1);
			mine[0] = fmax(mine[0], fabs(*at(grid, i, j) - want));
			mine[1] = fmax(mine[1], fabs(want));
		}
	MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, plate);
	return all[0] / fmax(all[1], 1e-200);
}

/* A sum over the bits of all points that does not depend on their order: the
 * same for every number of ranks. */
static unsigned long long checksum(void)
{
	unsigned long long mine = 0, all;

	for (int i = 1; i <= rows; i++)
		for (int j = 1; j <= cols; j++) {
			unsigned long long bits, place;

			memcpy(&bits, at(grid, i, j), sizeof(bits));
			place = (unsigned long long)(first_row + i) * 1000003 +
				(unsigned long long)(first_col + j);
			mine += bits * (2 * place + 1);
		}
	MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, plate);
	return all;
}

/* The number of ranks that find in their globals only their own values. */
static int private_ranks(void)
{
	int rank, place[2], mine, all;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Cart_coords(plate, rank, 2, place);
	mine = my_rank == rank && thread_mark == rank && set_up == 1 &&
	       set_up_place == &set_up && place[0] == coords[0] &&
	       place[1] == coords[1] && steps_done == steps &&
	       exchanges == steps;
	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, plate);
	return all;
}

/* 0 when everything is right. */
static int verdict(double seconds)
{
	double error = answer_error();
	unsigned long long sum = checksum();
	int count = private_ranks();
	int right = error <= 1e-10; /* false for a NaN */

	if (my_rank == 0) {
		printf("heat: %d x %d points, %d steps, %d x %d blocks, "
		       "%.3f s\n",
		       cells, cells, steps, dims[0], dims[1], seconds);
		printf("globals: %d of %d ranks private\n", count, rank_count);
		printf("checksum: %016llx\n", sum);
		printf("answer: %s (relative error %.1e)\n",
		       right ? "ok" : "WRONG", error);
	}
	return right && count == rank_count ? 0 : 1;
}

int main(int argc, char **argv)
{
	double begin;
	int status;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
	arguments(argc, argv);
	decompose();
	blocks_new();
	MPI_Barrier(plate);
	begin = MPI_Wtime();
	solve();
	MPI_Barrier(plate);
	status = verdict(MPI_Wtime() - begin);
	free(grid);
	free(next);
	MPI_Type_free(&column);
	MPI_Comm_free(&plate);
	MPI_Finalize();
	return status;
}
