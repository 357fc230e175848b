/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of all ranks among the phases of doomed.c, by number, with
 * values that show whose they are and of which call.
 */
#ifndef T_RUN_DOOMED_COLL_H
#define T_RUN_DOOMED_COLL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define BIG (1 << 18) /* doubles */

static int rank, size;
static double *in, *out;

static void coll_init(void)
{
	in = calloc(BIG, sizeof(*in));
	out = calloc(BIG, sizeof(*out));
}

static int inter_make(void)
{
	MPI_Comm half, inter;
	int low = rank < size / 2;
	int rc = MPI_Comm_split(MPI_COMM_WORLD, low, 0, &half);

	if (rc)
		return rc;
	rc = MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? size / 2 : 0,
				  3, &inter);
	if (!rc)
		rc = MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
	return rc;
}

static int group_make(void)
{
	MPI_Group group;
	MPI_Comm comm;
	int rc;

	MPI_Comm_group(MPI_COMM_WORLD, &group);
	rc = MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
	MPI_Group_free(&group);
	return rc ? rc : MPI_Comm_free(&comm);
}

static int comm_end(int rc, MPI_Comm *comm)
{
	return rc ? rc : MPI_Comm_free(comm);
}

static int wait_end(int rc, MPI_Request *req)
{
	return rc ? rc : MPI_Wait(req, MPI_STATUS_IGNORE);
}

/* What a rank gives to the round-th call, at each place. */
static double given(int who, int at, int round)
{
	return who + 3.0 * round + at;
}

/* What it gives, or what the first `count` give together. */
static double given_sum(int count, int at, int round)
{
	return count * given(0, at, round) + count * (count - 1) / 2.0;
}

/* How many results a rank has to check. */
static int result_count(int which)
{
	const int counts[] = { [1] = 10,
			       [2] = rank == size - 1 ? 10 : 0,
			       [3] = 1,
			       [4] = BIG,
			       [5] = rank == 0 ? 100 * size : 0,
			       [6] = 100,
			       [7] = 100 * size,
			       [8] = 100 * size,
			       [9] = 5,
			       [10] = 50,
			       [12] = 100,
			       [13] = BIG,
			       [18] = 0 };

	return counts[which];
}

static double result(int which, int at, int round)
{
	switch (which) {
	case 1:
		return given(0, at, round);
	case 5:
	case 7:
		return given(at / 100, at % 100, round);
	case 6:
		return given(0, rank * 100 + at, round);
	case 8:
		return given(at / 100, rank * 100 + at % 100, round);
	case 9:
		return given_sum(rank + 1, at, round);
	case 10:
		return given(size - 1, rank * 50 + at, round);
	case 13:
		return given(size - 1, at, round);
	default:
		return given_sum(size, at, round);
	}
}

static void give(int which, int round)
{
	int count = which == 4 || which == 13 ? BIG : 100 * size;

	for (int i = 0; i < count; i++)
		in[i] = given(rank, i, round);
}

static bool results_right(int which, int round)
{
	const double *results = which == 1 || which == 13 ? in : out;

	for (int i = 0; i < result_count(which); i++)
		if (results[i] != result(which, i, round)) {
			printf("result %d is %g, not %g\n", i, results[i],
			       result(which, i, round));
			return false;
		}
	return true;
}

static int small(int which)
{
	MPI_Comm world = MPI_COMM_WORLD;

	switch (which) {
	case 0:
		return MPI_Barrier(world);
	case 1:
		return MPI_Bcast(in, 10, MPI_DOUBLE, 0, world);
	case 2:
		return MPI_Reduce(in, out, 10, MPI_DOUBLE, MPI_SUM, size - 1,
				  world);
	case 3:
		return MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world);
	case 5:
		return MPI_Gather(in, 100, MPI_DOUBLE, out, 100, MPI_DOUBLE, 0,
				  world);
	case 6:
		return MPI_Scatter(in, 100, MPI_DOUBLE, out, 100, MPI_DOUBLE, 0,
				   world);
	case 7:
		return MPI_Allgather(in, 100, MPI_DOUBLE, out, 100, MPI_DOUBLE,
				     world);
	case 8:
		return MPI_Alltoall(in, 100, MPI_DOUBLE, out, 100, MPI_DOUBLE,
				    world);
	case 9:
		return MPI_Scan(in, out, 5, MPI_DOUBLE, MPI_SUM, world);
	default:
		return MPI_Reduce_scatter_block(in, out, 50, MPI_DOUBLE,
						MPI_MAX, world);
	}
}

static int other(int which)
{
	MPI_Comm world = MPI_COMM_WORLD, comm;
	MPI_Request req;
	int rc;

	switch (which) {
	case 4:
		return MPI_Allreduce(in, out, BIG, MPI_DOUBLE, MPI_SUM, world);
	case 11:
		return wait_end(MPI_Ibarrier(world, &req), &req);
	case 12:
		rc = MPI_Iallreduce(in, out, 100, MPI_DOUBLE, MPI_SUM, world,
				    &req);
		return wait_end(rc, &req);
	case 13:
		rc = MPI_Ibcast(in, BIG, MPI_DOUBLE, size - 1, world, &req);
		return wait_end(rc, &req);
	case 14:
		return comm_end(MPI_Comm_dup(world, &comm), &comm);
	case 15:
		rc = MPI_Comm_split(world, rank % 2, -rank, &comm);
		return comm_end(rc, &comm);
	case 16:
		rc = wait_end(MPI_Comm_idup(world, &comm, &req), &req);
		return comm_end(rc, &comm);
	case 17:
		return group_make();
	default:
		return inter_make();
	}
}

static int coll_run(int which)
{
	return (which < 11 && which != 4 ? small : other)(which);
}

#endif
