/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep [late|posted|probed] [STEPS]: a solver whose sections are there to be
 * looked at by vmpirun --overlap.
 *
 * In each step all ranks compute a right hand side, exchange faces, and solve
 * along a line of ranks: a rank's plane needs the last one of the rank before
 * it, and coefficients that it computes itself.  That is where a transfer could
 * be hidden, and where the report finds that it is not:
 *
 * late	   the plane is received after the coefficients have been computed;
 * posted  the receive is posted before: it seems to be overlapped, but a large
 *	   message moves only while the library is called, or has help;
 * probed  between the coefficients MPI_Iprobe is called now and then.
 *
 * The numbers are whole, so all three have the same answer to the last bit.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 32768 /* of a plane: 256 KiB */
#define FACE 64
#define PROBES 128 /* per plane, when probing */
#define NEWTON 400 /* iterations: tens of ms for a plane */

enum way { LATE, POSTED, PROBED, WAYS };
static const char *const way_names[WAYS] = { "late", "posted", "probed" };

static double plane[CELLS], before[CELLS], right[CELLS], coefficient[CELLS];
static int rank, size;

/* The root of a square. */
static double root(double square)
{
	double x = square;

	for (int i = 0; i < NEWTON; i++)
		x = 0.5 * (x + square / x);
	return (double)(long)(x + 0.5);
}

static double weight(int step, int cell)
{
	return (double)(1 + (cell + step) % 7);
}

static double value(int step, int cell, int of)
{
	return (double)((cell + step + of) % 5);
}

static void right_hand_side(int step)
{
	for (int i = 0; i < CELLS; i++)
		right[i] = value(step, i, rank);
}

/* A face to each neighbour, and theirs; ends of the line have none. */
static void faces(void)
{
	int down = rank ? rank - 1 : MPI_PROC_NULL;
	int up = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
	double theirs[FACE];

	MPI_Sendrecv(right, FACE, MPI_DOUBLE, up, 1, theirs, FACE, MPI_DOUBLE,
		     down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(right, FACE, MPI_DOUBLE, down, 2, theirs, FACE, MPI_DOUBLE,
		     up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void coefficients(int step, enum way way)
{
	int there;

	for (int i = 0; i < CELLS; i++) {
		double w = weight(step, i);

		if (way == PROBED && i % (CELLS / PROBES) == 0)
			MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
				   &there, MPI_STATUS_IGNORE);
		coefficient[i] = root(w * w);
	}
}

/* Sends the last step's plane up the line; receives that of the rank before. */
static void solve(int step, enum way way)
{
	MPI_Request received = MPI_REQUEST_NULL, sent = MPI_REQUEST_NULL;

	if (rank && way != LATE)
		MPI_Irecv(before, CELLS, MPI_DOUBLE, rank - 1, 0,
			  MPI_COMM_WORLD, &received);
	if (rank < size - 1)
		MPI_Isend(plane, CELLS, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD,
			  &sent);
	coefficients(step, way);
	if (rank && way == LATE)
		MPI_Recv(before, CELLS, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Wait(&received, MPI_STATUS_IGNORE);
	MPI_Wait(&sent, MPI_STATUS_IGNORE);
	for (int i = 0; i < CELLS; i++)
		plane[i] = before[i] + coefficient[i] + right[i];
}

/* A plane has come along the line from as many ranks as there were steps. */
static int wrong_cells(int step)
{
	int wrong = 0;

	for (int i = 0; i < CELLS; i++) {
		double sum = 0;

		for (int k = 0; k <= rank && k <= step; k++)
			sum += weight(step - k, i) +
			       value(step - k, i, rank - k);
		wrong += plane[i] != sum;
	}
	return wrong;
}

static double step_all(int steps, enum way way)
{
	double start = MPI_Wtime();

	for (int step = 0; step < steps; step++) {
		MPIX_Section_begin("rhs");
		right_hand_side(step);
		MPIX_Section_end("rhs");
		MPIX_Section_begin("faces");
		faces();
		MPIX_Section_end("faces");
		MPIX_Section_begin("solve");
		solve(step, way);
		MPIX_Section_end("solve");
	}
	return MPI_Wtime() - start;
}

/* The variant of a word; WAYS: none. */
static enum way way_find(const char *word)
{
	enum way way = 0;

	while (way < WAYS && strcmp(word, way_names[way]) != 0)
		way++;
	return way;
}

int main(int argc, char **argv)
{
	int steps = argc > 2 ? atoi(argv[2]) : 10, wrong, all;
	enum way way = argc > 1 ? way_find(argv[1]) : POSTED;
	double seconds;

	if (argc > 3 || way == WAYS || steps < 1) {
		fputs("sweep: usage: sweep [late|posted|probed] [STEPS]\n",
		      stderr);
		return 2;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	seconds = step_all(steps, way);
	wrong = wrong_cells(steps - 1);
	MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == size - 1)
		printf("%s: %d steps of %d ranks, %.1f ms each, %d wrong "
		       "cells\n",
		       way_names[way], steps, size, seconds * 1e3 / steps, all);
	MPI_Finalize();
	return all != 0;
}
