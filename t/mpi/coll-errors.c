/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Erroneous calls of collectives: every rank gets the error class, none hangs,
 * and the communicator remains usable.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

/* The number of ranks that got each class. */
static _Atomic int classes[64];

static void count(int rc)
{
	int class;

	MPI_Error_class(rc, &class);
	classes[class]++;
}

static void different_calls(int rank, int size)
{
	int x = 0;

	if (rank == 1)
		count(MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD));
	else
		count(MPI_Barrier(MPI_COMM_WORLD));
}

static void another_kind(int rank, int size)
{
	MPI_Comm comm;

	if (rank == 1)
		count(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	else
		count(MPI_Barrier(MPI_COMM_WORLD));
}

static void first_another_kind(int rank, int size)
{
	another_kind(rank == 0 ? 1 : 0, size);
}

static void different_roots(int rank, int size)
{
	int x = 0;

	count(MPI_Bcast(&x, 1, MPI_INT, rank == 2, MPI_COMM_WORLD));
}

static void different_ops(int rank, int size)
{
	int x = 0, y;

	count(MPI_Allreduce(&x, &y, 1, MPI_INT, rank == 2 ? MPI_MAX : MPI_SUM,
			    MPI_COMM_WORLD));
}

static void different_counts(int rank, int size)
{
	int x[2] = { 0 }, y[2];

	count(MPI_Allreduce(x, y, 1 + (rank == 2), MPI_INT, MPI_SUM,
			    MPI_COMM_WORLD));
}

static void different_types(int rank, int size)
{
	int x = 0, y;

	count(MPI_Allreduce(&x, &y, 1, rank == 2 ? MPI_FLOAT : MPI_INT, MPI_SUM,
			    MPI_COMM_WORLD));
}

static void half_in_place(int rank, int size)
{
	int x[4] = { 0 }, y[4];

	count(MPI_Alltoall(rank == 2 ? MPI_IN_PLACE : x, 1, MPI_INT, y, 1,
			   MPI_INT, MPI_COMM_WORLD));
}

/* Only the ranks that get too much or too little see it. */
static void short_bcast(int rank, int size)
{
	int x[4] = { rank, rank, rank, rank };

	count(MPI_Bcast(x, rank == 3 ? 2 : 4, MPI_INT, 0, MPI_COMM_WORLD));
	if (rank == 3)
		ok(x[0] == 0 && x[1] == 0 && x[2] == 3,
		   "what fits has arrived, and no more");
}

static void long_gather(int rank, int size)
{
	int x[4] = { 0 }, y[8];

	count(MPI_Gather(x, 1 + (rank == 2), MPI_INT, y, 1, MPI_INT, 1,
			 MPI_COMM_WORLD));
}

static void different_shares(int rank, int size)
{
	int x[8] = { 0 }, y[8], counts[4] = { 1, 1, 1, 1 };

	if (rank == 2) {
		counts[2] = 2;
		counts[3] = 0;
	}
	count(MPI_Reduce_scatter(x, y, counts, MPI_INT, MPI_SUM,
				 MPI_COMM_WORLD));
}

/* All ranks make the same erroneous call. */
static void arguments(int rank, int size)
{
	MPI_Datatype type;
	int x[8] = { 0 }, y[8] = { 0 };
	int bad[4] = { 1, -1, 1, 1 }, good[4] = { 0, 1, 2, 3 };

	MPI_Type_contiguous(2, MPI_INT, &type);
	if (rank == 0) {
		is_int(MPI_Bcast(x, 1, MPI_INT, size, MPI_COMM_WORLD),
		       MPI_ERR_ROOT, "a root that is no rank");
		is_int(MPI_Bcast(x, 1, MPI_INT, -1, MPI_COMM_WORLD),
		       MPI_ERR_ROOT, "a negative root");
		is_int(MPI_Bcast(x, -1, MPI_INT, 0, MPI_COMM_WORLD),
		       MPI_ERR_COUNT, "a negative count");
		is_int(MPI_Bcast(x, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD),
		       MPI_ERR_TYPE, "no datatype");
		is_int(MPI_Bcast(x, 1, type, 0, MPI_COMM_WORLD), MPI_ERR_TYPE,
		       "a datatype that is not committed");
		is_int(MPI_Bcast(NULL, 1, MPI_INT, 0, MPI_COMM_WORLD),
		       MPI_ERR_BUFFER, "no buffer");
		is_int(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM,
		       "no communicator");
		is_int(MPI_Allreduce(x, y, 1, MPI_INT, MPI_OP_NULL,
				     MPI_COMM_WORLD),
		       MPI_ERR_OP, "no operation");
		is_int(MPI_Allreduce(x, y, 1, MPI_FLOAT, MPI_BAND,
				     MPI_COMM_WORLD),
		       MPI_ERR_OP, "an operation that the type has not");
		is_int(MPI_Gatherv(x, 1, MPI_INT, y, bad, good, MPI_INT, 0,
				   MPI_COMM_WORLD),
		       MPI_ERR_COUNT, "a negative count among others");
		is_int(MPI_Gatherv(x, 1, MPI_INT, y, NULL, good, MPI_INT, 0,
				   MPI_COMM_WORLD),
		       MPI_ERR_ARG, "no counts");
		is_int(MPI_Scatter(MPI_IN_PLACE, 1, MPI_INT, y, 1, MPI_INT, 0,
				   MPI_COMM_WORLD),
		       MPI_ERR_BUFFER, "in place where nothing can be");
		is_int(MPI_Reduce(MPI_IN_PLACE, y, 1, MPI_INT, MPI_SUM, 1,
				  MPI_COMM_WORLD),
		       MPI_ERR_BUFFER, "in place at a rank that is not root");
	}
	MPI_Type_free(&type);
}

/* After an error everything goes on. */
static void still_good(int rank, int size)
{
	int sum = 0;

	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	classes[0] += sum == size * (size - 1) / 2;
}

/* Some leave their data to the root, or have been told by it, and go on; who
 * waits for others hears of it. */
static void first_bcasts(int rank, int size)
{
	int x = 0;

	if (rank == 1)
		count(MPI_Barrier(MPI_COMM_WORLD));
	else
		count(MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD));
}

static void first_scatters(int rank, int size)
{
	int x[8] = { 0 }, y;

	if (rank == 1)
		another_kind(rank, size);
	else
		count(MPI_Scatter(x, 1, MPI_INT, &y, 1, MPI_INT, 0,
				  MPI_COMM_WORLD));
}

static void one_reduces(int rank, int size)
{
	int x = 0, y;

	if (rank == 1)
		count(MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, 0,
				 MPI_COMM_WORLD));
	else
		count(MPI_Barrier(MPI_COMM_WORLD));
}

static void others_reduce(int rank, int size)
{
	one_reduces(rank == 1 ? 0 : 1, size);
}

static void one_gathers(int rank, int size)
{
	int x = 0, y[8];

	if (rank == 3)
		count(MPI_Gather(&x, 1, MPI_INT, y, 1, MPI_INT, 0,
				 MPI_COMM_WORLD));
	else
		another_kind(1, size);
}

static void first_dups(int rank, int size)
{
	if (rank == 0)
		another_kind(1, size);
	else
		one_reduces(1, size);
}

/* The same of data that follow cards. */
#define LONG 16384

static char longs[2][8 * LONG];

static void first_bcasts_long(int rank, int size)
{
	if (rank == 1)
		count(MPI_Barrier(MPI_COMM_WORLD));
	else if (rank == 2)
		another_kind(1, size);
	else
		count(MPI_Bcast(longs[0], LONG, MPI_CHAR, 0, MPI_COMM_WORLD));
}

static void one_left_long(int rank, int size)
{
	int x = 0, y[8];

	if (rank == 3)
		count(MPI_Gather(&x, 1, MPI_INT, y, 1, MPI_INT, 0,
				 MPI_COMM_WORLD));
	else
		count(MPI_Bcast(longs[0], LONG, MPI_CHAR, 0, MPI_COMM_WORLD));
}

static void first_scatters_long(int rank, int size)
{
	if (rank == size - 1)
		another_kind(1, size);
	else
		count(MPI_Scatter(longs[0], LONG, MPI_CHAR, longs[1], LONG,
				  MPI_CHAR, 0, MPI_COMM_WORLD));
}

static void different_calls_long(int rank, int size)
{
	if (rank == 2)
		count(MPI_Allreduce(longs[0], longs[1], LONG, MPI_CHAR, MPI_MAX,
				    MPI_COMM_WORLD));
	else
		count(MPI_Gather(longs[0], LONG, MPI_CHAR, longs[1], LONG,
				 MPI_CHAR, 0, MPI_COMM_WORLD));
}

static void different_counts_long(int rank, int size)
{
	count(MPI_Allreduce(longs[0], longs[1], LONG - rank % 2, MPI_CHAR,
			    MPI_MAX, MPI_COMM_WORLD));
}

static void different_roots_long(int rank, int size)
{
	count(MPI_Bcast(longs[0], LONG, MPI_CHAR, 2 * rank / size,
			MPI_COMM_WORLD));
}

static void (*wrong_call)(int rank, int size);

static void twice(int rank, int size)
{
	wrong_call(rank, size);
	still_good(rank, size);
}

static bool are_apart(void)
{
	const char *nodes = getenv("TAP_NODES");

	return nodes && atoi(nodes) > 1;
}

/* n of the four ranks get the class, or `least` if they are in several processes,
 * the others none. */
static void expect_least(void (*call)(int rank, int size), int class, int least,
			 int n, const char *what)
{
	if (!are_apart())
		least = n;
	for (int workers = 1; workers <= 2; workers++) {
		memset((void *)classes, 0, sizeof(classes));
		wrong_call = call;
		if (!ranks_run(4, workers, twice)) {
			skip(1, "%s: not on %d workers", what, workers);
			continue;
		}
		ranks_share(classes, 64);
		ok(classes[class] >= least && classes[class] <= n &&
			   classes[0] == 4 + 4 - classes[class],
		   "%s: seen by %d on %d workers", what, least, workers);
	}
}

static void expect(void (*call)(int rank, int size), int class, int n,
		   const char *what)
{
	expect_least(call, class, n, n, what);
}

/* Among eight processes, if it runs there: seen by so many at least. */
static void expect_of_8(void (*call)(int rank, int size), int least,
			const char *what)
{
	memset((void *)classes, 0, sizeof(classes));
	wrong_call = call;
	if (!ranks_run(8, 2, twice)) {
		skip(1, "%s: not by 8 ranks", what);
		return;
	}
	ranks_share(classes, 64);
	ok(classes[MPI_ERR_OTHER] >= least &&
		   classes[0] == 16 - classes[MPI_ERR_OTHER],
	   "%s: seen by %d ranks", what, least);
}

int main(void)
{
	plan(30 + 2 + 13 + 17);
	expect(different_calls, MPI_ERR_OTHER, 4, "different calls");
	expect(another_kind, MPI_ERR_OTHER, 4, "calls of another kind");
	expect_least(different_roots, MPI_ERR_OTHER, 1, 4, "different roots");
	expect(different_ops, MPI_ERR_OTHER, 4, "different operations");
	expect(different_counts, MPI_ERR_OTHER, 4, "different counts");
	expect(different_types, MPI_ERR_OTHER, 4, "different types");
	expect(half_in_place, MPI_ERR_OTHER, 4, "in place at one rank only");
	expect(short_bcast, MPI_ERR_TRUNCATE, 1, "a short receive buffer");
	expect(long_gather, MPI_ERR_TRUNCATE, 1, "a long send buffer");
	expect(different_shares, MPI_ERR_OTHER, 4, "different shares");
	expect(first_bcasts_long, MPI_ERR_OTHER, 4,
	       "a long broadcast against others");
	expect_least(one_left_long, MPI_ERR_OTHER, 1, 4,
		     "a short gather against long broadcasts");
	expect(different_calls_long, MPI_ERR_OTHER, 4, "different long calls");
	expect(different_counts_long, MPI_ERR_OTHER, 4,
	       "different long counts");
	expect(different_roots_long, MPI_ERR_OTHER, 4,
	       "different roots of long ones");
	expect_of_8(different_calls, 8, "different calls");
	expect_of_8(different_counts, 8, "different counts");
	expect_of_8(another_kind, 8, "calls of another kind");
	expect_of_8(first_another_kind, 8, "one of another kind by rank 0");
	expect_of_8(different_roots, 1, "different roots");
	expect_of_8(first_bcasts, 1, "a barrier against broadcasts");
	expect_of_8(first_scatters, 1, "MPI_Comm_dup against scatters");
	expect_of_8(one_reduces, 7, "a reduction against barriers");
	expect_of_8(others_reduce, 2, "a barrier against reductions");
	expect_of_8(one_gathers, 7, "a gather against MPI_Comm_dup");
	expect_of_8(first_dups, 1, "MPI_Comm_dup against reductions");
	expect_of_8(first_bcasts_long, 3, "a long broadcast against others");
	expect_of_8(one_left_long, 1, "a short gather against long broadcasts");
	expect_of_8(first_scatters_long, 2, "MPI_Comm_dup, long scatters");
	expect_of_8(different_calls_long, 8, "different long calls");
	expect_of_8(different_counts_long, 8, "different long counts");
	expect_of_8(different_roots_long, 1, "different roots of long ones");
	ranks_run(4, 2, arguments);
	return done_testing();
}
