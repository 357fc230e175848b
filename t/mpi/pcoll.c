/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent collectives: started many times, several at once, freed and
 * misused.  pcoll-move.c and pcoll-reduce.c test their results.
 */
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

#define MOST 8

static _Atomic int failed;

static void expect(bool right)
{
	failed += !right;
}

/* The arguments are read at each start. */
static void again(int rank, int size)
{
	int value = 0, sum = -1, token = 0, all[MOST] = { 0 };
	MPI_Request r[3];

	MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
			   MPI_INFO_NULL, &r[0]);
	MPI_Bcast_init(&token, 1, MPI_INT, size - 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &r[1]);
	MPI_Allgather_init(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD,
			   MPI_INFO_NULL, &r[2]);
	for (int round = 0; round < 50; round++) {
		value = rank + round;
		token = rank == size - 1 ? 100 + round : -1;
		MPI_Startall(3, r);
		MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
		expect(sum == size * (size - 1) / 2 + size * round);
		expect(token == 100 + round);
		for (int i = 0; i < size; i++)
			expect(all[i] == i + round);
		expect(r[0] != MPI_REQUEST_NULL);
	}
	for (int i = 0; i < 3; i++)
		MPI_Request_free(&r[i]);
	expect(r[0] == MPI_REQUEST_NULL);
}

/* Among blocking and nonblocking ones, and completed out of order. */
static void mixed(int rank, int size)
{
	int value = rank, sum = 0, scan = 0, other = 0, flag = 0;
	MPI_Request p, q, i;

	MPI_Scan_init(&value, &scan, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
		      MPI_INFO_NULL, &p);
	MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &q);
	for (int round = 0; round < 10; round++) {
		MPI_Start(&p);
		MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM,
			       MPI_COMM_WORLD, &i);
		MPI_Start(&q);
		MPI_Allreduce(&value, &other, 1, MPI_INT, MPI_MAX,
			      MPI_COMM_WORLD);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		MPI_Wait(&i, MPI_STATUS_IGNORE);
		for (flag = 0; !flag;)
			MPI_Test(&p, &flag, MPI_STATUS_IGNORE);
		expect(scan == rank * (rank + 1) / 2 && other == size - 1 &&
		       sum == size * (size - 1) / 2);
	}
	MPI_Request_free(&p);
	MPI_Request_free(&q);
}

/* Type and operation are held by the request. */
static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
	for (int i = 0; i < 2 * *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void held(int rank, int size)
{
	int value[2] = { rank, 1 }, sum[2];
	MPI_Datatype pair;
	MPI_Request r;
	MPI_Op op;

	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	MPI_Op_create(add, 1, &op);
	MPI_Reduce_init(value, sum, 1, pair, op, 0, MPI_COMM_WORLD,
			MPI_INFO_NULL, &r);
	MPI_Type_free(&pair);
	MPI_Op_free(&op);
	for (int round = 0; round < 3; round++) {
		MPI_Start(&r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		expect(rank != 0 ||
		       (sum[0] == size * (size - 1) / 2 && sum[1] == size));
	}
	MPI_Request_free(&r);
}

/* Large enough to be shared among workers when it is blocking. */
static void large(int rank, int size)
{
	const int n = 50000;
	int *in = malloc(sizeof(int) * (size_t)n);
	int *out = malloc(sizeof(int) * (size_t)n);
	MPI_Request r;

	MPI_Allreduce_init(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
			   MPI_INFO_NULL, &r);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < n; i++)
			in[i] = i + rank + round;
		MPI_Start(&r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		for (int i = 0; i < n; i++)
			expect(out[i] ==
			       size * (i + round) + size * (size - 1) / 2);
	}
	MPI_Request_free(&r);
	free(in);
	free(out);
}

/* Made in one order by all, started in another by each; one is freed before it
 * was started, and they outlive their communicator. */
static void order(int rank, int size)
{
	int token, sum = -1, none = 0;
	MPI_Request r[3];
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Bcast_init(&token, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &r[0]);
	MPI_Barrier_init(comm, MPI_INFO_NULL, &r[1]);
	MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, comm,
			   MPI_INFO_NULL, &r[2]);
	MPI_Comm_free(&comm);
	for (int round = 0; round < 20; round++) {
		token = rank ? -1 : round;
		for (int i = 0; i < 3; i++)
			MPI_Start(&r[(i + rank + round) % 3]);
		MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
		expect(token == round && sum == size * (size - 1) / 2);
	}
	for (int i = 0; i < 3; i++)
		MPI_Request_free(&r[i]);
	MPI_Bcast_init(&none, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
		       &r[0]);
	expect(MPI_Request_free(&r[0]) == MPI_SUCCESS);
}

static void all(int rank, int size)
{
	order(rank, size);
	again(rank, size);
	mixed(rank, size);
	held(rank, size);
	large(rank, size);
}

static void errors(int rank, int size)
{
	int value = 0, sum = 0;
	MPI_Request r = MPI_REQUEST_NULL;

	is_int(MPI_Bcast_init(&value, -1, MPI_INT, 0, MPI_COMM_WORLD,
			      MPI_INFO_NULL, &r),
	       MPI_ERR_COUNT, "a negative count");
	is_int(MPI_Bcast_init(&value, 1, MPI_INT, 5, MPI_COMM_WORLD,
			      MPI_INFO_NULL, &r),
	       MPI_ERR_ROOT, "a wrong root");
	is_int(MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_OP_NULL,
				  MPI_COMM_WORLD, MPI_INFO_NULL, &r),
	       MPI_ERR_OP, "MPI_OP_NULL");
	is_int(MPI_Barrier_init(MPI_COMM_NULL, MPI_INFO_NULL, &r), MPI_ERR_COMM,
	       "MPI_COMM_NULL");
	is_int(MPI_Barrier_init(MPI_COMM_WORLD, (MPI_Info)7, &r), MPI_ERR_INFO,
	       "a wrong info");
	is_int(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, NULL),
	       MPI_ERR_ARG, "no request");
	is_int(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r), MPI_SUCCESS,
	       "a right one");
	is_int(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS,
	       "waiting for it before it is started returns");
	is_int(MPI_Cancel(&r), MPI_ERR_REQUEST, "cancelling it is an error");
	MPI_Start(&r);
	is_int(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS, "it runs");
	is_int(MPI_Request_free(&r), MPI_SUCCESS, "it is freed");
}

static _Atomic int classes[2];

/* Ranks that disagree get an error at completion and may start again. */
static void disagree(int rank, int size)
{
	int value = 0, root = rank, class;
	MPI_Request r;

	MPI_Bcast_init(&value, 1, MPI_INT, root, MPI_COMM_WORLD, MPI_INFO_NULL,
		       &r);
	for (int round = 0; round < 2; round++) {
		MPI_Start(&r);
		MPI_Error_class(MPI_Wait(&r, MPI_STATUS_IGNORE), &class);
		classes[rank] = class;
	}
	MPI_Request_free(&r);
}

int main(void)
{
	const int sizes[][2] = { { 1, 1 }, { 2, 1 }, { 5, 2 }, { MOST, 2 } };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		failed = 0;
		ranks_run(sizes[i][0], sizes[i][1], all);
		is_int(failed, 0, "%d ranks on %d workers", sizes[i][0],
		       sizes[i][1]);
	}
	ranks_run(1, 1, errors);
	if (!ranks_run(2, 1, disagree))
		return done_testing();
	ranks_share(classes, 2);
	ok(classes[0] == MPI_ERR_OTHER && classes[1] == MPI_ERR_OTHER,
	   "ranks that disagree are told");
	return done_testing();
}
