/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking collectives in programs: ranks compute while they are pending,
 * and user operations see the globals of their own rank.
 */
#include "mtap.h"

/* Rank + 1 in each copy of the program. */
static int mine;
static bool strange;

/* Maps x -> a x + b of 16 bits in one integer, which do not commute: first the
 * right one, then the left one. */
static int compose(int left, int right)
{
	unsigned a = (unsigned)left >> 16, b = (unsigned)left & 0xffff;
	unsigned c = (unsigned)right >> 16, d = (unsigned)right & 0xffff;

	return (int)((a * c & 0xffff) << 16 | ((a * d + b) & 0xffff));
}

static int map_of(int i)
{
	return (2 * i + 1) << 16 | (7 * i + 3);
}

static void append(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int *a = in, *b = inout, me = -1;

	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	strange = strange || me + 1 != mine || *type != MPI_INT;
	for (int i = 0; i < *n; i++)
		b[i] = compose(a[i], b[i]);
}

static int appended(int first, int last)
{
	int sum = map_of(first);

	for (int i = first + 1; i <= last; i++)
		sum = compose(sum, map_of(i));
	return sum;
}

static void own_globals(void)
{
	int all = -1, scan = -1, reduced = -1, map = map_of(rank);
	MPI_Request requests[3];
	MPI_Op op;

	MPI_Op_create(append, 0, &op);
	MPI_Iallreduce(&map, &all, 1, MPI_INT, op, MPI_COMM_WORLD,
		       &requests[0]);
	MPI_Iscan(&map, &scan, 1, MPI_INT, op, MPI_COMM_WORLD, &requests[1]);
	MPI_Ireduce(&map, &reduced, 1, MPI_INT, op, size - 1, MPI_COMM_WORLD,
		    &requests[2]);
	MPI_Op_free(&op);
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	all_ok(all == appended(0, size - 1), "operations keep their order");
	all_ok(rank != size - 1 || reduced == all, "also towards a root");
	all_ok(!strange, "a function of the user runs in its own program");
}

/* Rank 0 is late: the others do something else meanwhile. */
static void overlap(void)
{
	int token = rank == 0 ? 5 : -1, rounds = 0, flag = 0, got = 0;
	MPI_Request request;

	if (rank == 0) {
		for (int i = 1; i < size; i++)
			MPI_Recv(&got, 1, MPI_INT, i, 9, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		MPI_Ibcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
	} else {
		MPI_Ibcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		got = flag;
		MPI_Send(&rank, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
	}
	while (!flag) {
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		rounds++;
	}
	all_ok(token == 5 && (rank == 0 || !got),
	       "a broadcast ends when its root has started it");
	all_ok(request == MPI_REQUEST_NULL, "and its request is gone");
}

static void mixed_kinds(void)
{
	int sum = -1, left = (rank + size - 1) % size, got = -1;
	MPI_Request requests[4] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL,
				    MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	MPI_Status statuses[4];

	MPI_Recv_init(&got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Start(&requests[0]);
	MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
		       &requests[1]);
	MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD,
		  &requests[2]);
	MPI_Waitall(4, requests, statuses);
	all_ok(sum == size * (size - 1) / 2 && got == left &&
		       requests[0] != MPI_REQUEST_NULL &&
		       requests[1] == MPI_REQUEST_NULL,
	       "persistent, null and other requests share an array");
	MPI_Request_free(&requests[0]);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	mine = rank + 1;
	own_globals();
	overlap();
	mixed_kinds();
	return mtap_end();
}
