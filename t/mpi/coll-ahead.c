/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of which nobody waits for more than it needs: among processes the
 * root of a broadcast, or a member that leaves its data to a root in the first
 * process, goes on while others have not come, and a scan waits for those before.
 * Everywhere: many calls in a row, whose data are right, and communicators that end
 * at once.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

#define ROUNDS 200 /* more than may be ahead */

static _Atomic int wrong;

static bool goes_ahead(void)
{
	const char *nodes = getenv("TAP_NODES");

	return nodes && atoi(nodes) > 1;
}

/* The last rank comes when rank 0 has told it that it has gone on. */
static void root_goes_on(int rank, int size)
{
	int x = rank ? 0 : 17, all[64], mine = 0, gone = 0;

	for (int i = 0; i < size; i++)
		all[i] = 100 + i;
	if (rank == size - 1)
		MPI_Recv(&gone, 1, MPI_INT, 0, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Scatter(all, 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Send(&x, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD);
	wrong += x != 17 || mine != 100 + rank;
	wrong += rank == size - 1 && gone != 17;
}

/* The root comes when the last rank has told it so. */
static void leaf_goes_on(int rank, int size)
{
	int sum = 0, all[64] = { 0 }, gone = 0;

	if (rank == 0)
		MPI_Recv(&gone, 1, MPI_INT, size - 1, 2, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (rank == size - 1)
		MPI_Send(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
	if (rank)
		return;
	wrong += sum != size * (size - 1) / 2 || gone != size - 1;
	for (int i = 0; i < size; i++)
		wrong += all[i] != i;
}

/* The same of a gather of blocks of which the others know nothing. */
static void uneven_goes_on(int rank, int size)
{
	int counts[64], places[64], all[64 * 64] = { 0 }, own[64], gone = 0;

	for (int r = 0; r < size; r++) {
		counts[r] = r % 4 * 16;
		places[r] = 64 * r;
	}
	for (int i = 0; i < 64; i++)
		own[i] = 100 * rank + i;
	if (rank == 0)
		MPI_Recv(&gone, 1, MPI_INT, size - 1, 4, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Gatherv(own, counts[rank], MPI_INT, all, counts, places, MPI_INT, 0,
		    MPI_COMM_WORLD);
	if (rank == size - 1)
		MPI_Send(&rank, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
	if (rank)
		return;
	wrong += gone != size - 1;
	for (int r = 0; r < size; r++)
		for (int i = 0; i < counts[r]; i++)
			wrong += all[places[r] + i] != 100 * r + i;
}

/* The last rank comes when the one before has told it that it has gone on. */
static void scan_goes_on(int rank, int size)
{
	int sum = 0, before = -1, gone = 0;

	if (rank == size - 1)
		MPI_Recv(&gone, 1, MPI_INT, rank - 1, 3, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Exscan(&rank, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == size - 2)
		MPI_Send(&rank, 1, MPI_INT, size - 1, 3, MPI_COMM_WORLD);
	wrong += sum != rank * (rank + 1) / 2;
	wrong += before != (rank ? rank * (rank - 1) / 2 : -1);
	wrong += rank == size - 1 && gone != rank - 1;
}

/* Operands whose sum depends on the order; and in place. */
static void scan_round(MPI_Comm comm, int round, int rank)
{
	double x[3], sum[3], want[3] = { 0 }, last[3];

	for (int r = 0; r <= rank; r++)
		for (int i = 0; i < 3; i++) {
			double own = 1.0 / (r + round + i + 1);

			last[i] = want[i];
			want[i] = r ? want[i] + own : own;
			x[i] = own;
		}
	MPI_Scan(x, sum, 3, MPI_DOUBLE, MPI_SUM, comm);
	wrong += memcmp(sum, want, sizeof(sum)) != 0;
	MPI_Exscan(MPI_IN_PLACE, x, 3, MPI_DOUBLE, MPI_SUM, comm);
	wrong += rank && memcmp(x, last, sizeof(last)) != 0;
}

/* One call of each kind; the ranks come in a different order each time. */
static void round_do(MPI_Comm comm, int round, int rank, int size)
{
	int root = round % 3 ? 0 : round % size, all[64] = { 0 }, x, y = 0;

	for (int i = 0; i < size && rank == root; i++)
		all[i] = round + i;
	x = rank == root ? round : -1;
	MPI_Bcast(&x, 1, MPI_INT, root, comm);
	MPI_Scatter(all, 1, MPI_INT, &y, 1, MPI_INT, root, comm);
	wrong += x != round || y != round + rank;
	x = y = round * rank;
	MPI_Reduce(rank == root ? MPI_IN_PLACE : &x, &y, 1, MPI_INT, MPI_MAX,
		   root, comm);
	wrong += rank == root && y != round * (size - 1);
	MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, root, comm);
	for (int i = 0; i < size && rank == root; i++)
		wrong += all[i] != round * i;
	scan_round(comm, round, rank);
	if (round % 50 == 49)
		MPI_Barrier(comm);
}

/* The same of data that follow cards, or that members put in their places at the
 * root, of so many: what is right is the first and the last of each block. */
static int words;

static bool is_block(const int *block, int first)
{
	return block[0] == first && block[words - 1] == first + words - 1;
}

static void long_round(int *all, int *mine, int round, int rank, int size)
{
	int root = round % 3 ? 0 : round % size, one = round;

	for (int i = 0; i < size * words; i++)
		all[i] = rank == root ? round + i : -1;
	MPI_Scatter(all, words, MPI_INT, mine, words, MPI_INT, root,
		    MPI_COMM_WORLD);
	wrong += !is_block(mine, round + rank * words);
	MPI_Bcast(all, words, MPI_INT, root, MPI_COMM_WORLD);
	wrong += !is_block(all, round);
	MPI_Bcast(&one, 1, MPI_INT, root, MPI_COMM_WORLD);
	memset(all, 0, sizeof(int) * (size_t)(words * size));
	MPI_Gather(mine, words, MPI_INT, all, words, MPI_INT, root,
		   MPI_COMM_WORLD);
	for (int i = 0; i < size && rank == root; i++)
		wrong += !is_block(all + i * words, round + i * words);
	MPI_Reduce(mine, all, words, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
	wrong += rank == root && !is_block(all, round + (size - 1) * words);
	MPI_Reduce(rank == root ? MPI_IN_PLACE : mine, mine, words, MPI_INT,
		   MPI_MAX, root, MPI_COMM_WORLD);
	wrong += rank == root && !is_block(mine, round + (size - 1) * words);
	mine[0] = round + rank * words;
	MPI_Allreduce(mine, all, words, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	wrong += all[words - 1] > round + size * words - 1 || all[0] != round;
	MPI_Allreduce(MPI_IN_PLACE, mine, words, MPI_INT, MPI_MIN,
		      MPI_COMM_WORLD);
	wrong += memcmp(mine, all, sizeof(int) * (size_t)words) != 0;
}

static void long_rounds(int rank, int size)
{
	int *all = malloc(sizeof(int) * (size_t)(words * size));
	int *mine = malloc(sizeof(int) * (size_t)words);

	for (int round = 0; round < ROUNDS / 4; round++)
		long_round(all, mine, round, rank, size);
	free(all);
	free(mine);
}

/* Blocks of 0 to 200,000 bytes, another for each rank, there and back. */
static void uneven_round(int round, int rank, int size, char *own, char *all)
{
	static const int sizes[] = { 0,	   8,	 1,	60,	100, 2048,
				     2049, 5000, 20000, 200000, 3 };
	int counts[64] = { 0 }, places[64] = { 0 }, at = 0;

	for (int r = 0; r < size; r++) {
		counts[r] = round % 2 ? r % 9 : sizes[(7 * r + round) % 11];
		places[r] = at;
		at += counts[r];
	}
	memset(own, rank + round, (size_t)counts[rank]);
	MPI_Gatherv(own, counts[rank], MPI_BYTE, all, counts, places, MPI_BYTE,
		    0, MPI_COMM_WORLD);
	for (int r = 0; r < size && rank == 0; r++)
		for (int i = 0; i < counts[r]; i++)
			wrong += all[places[r] + i]++ != (char)(r + round);
	MPI_Scatterv(all, counts, places, MPI_BYTE, own, counts[rank], MPI_BYTE,
		     0, MPI_COMM_WORLD);
	for (int i = 0; i < counts[rank]; i++)
		wrong += own[i] != (char)(rank + round + 1);
}

static void uneven_rounds(int rank, int size)
{
	char *own = malloc(200000), *all = malloc(200000 * (size_t)size);

	for (int round = 0; round < ROUNDS; round++)
		uneven_round(round, rank, size, own, all);
	free(own);
	free(all);
}

static void rounds(int rank, int size)
{
	for (int round = 0; round < ROUNDS; round++)
		round_do(MPI_COMM_WORLD, round, rank, size);
}

/* Members free it while the last call may be on its way. */
static void short_lives(int rank, int size)
{
	for (int i = 0; i < 20; i++) {
		MPI_Comm comm;
		int x = i;

		MPI_Comm_dup(MPI_COMM_WORLD, &comm);
		for (int k = 0; k < 10; k++)
			MPI_Bcast(&x, 1, MPI_INT, 0, comm);
		wrong += x != i;
		MPI_Comm_free(&comm);
	}
}

static void check(void (*body)(int rank, int size), const char *what)
{
	wrong = 0;
	if (!ranks_run(8, 1, body))
		skip(1, "%s: not with these ranks", what);
	else
		ok(wrong == 0, "%s", what);
}

int main(void)
{
	plan(10);
	if (goes_ahead()) {
		check(root_goes_on,
		      "the root goes on when its data are stored");
		check(leaf_goes_on, "so does who leaves its data to the root");
	} else {
		skip(2, "members of a process wait for each other");
	}
	if (goes_ahead() && atoi(getenv("TAP_NODES")) >= 8) {
		check(scan_goes_on, "in a scan the others go on");
		check(uneven_goes_on,
		      "who leaves a block of its own size, too");
	} else {
		skip(2, "members of a process wait for each other");
	}
	check(uneven_rounds, "many blocks, each of its own size");
	check(rounds, "many in a row, with one root and another");
	words = 1024;
	check(long_rounds, "many of 4 KiB");
	words *= 8;
	check(long_rounds, "many of 32 KiB");
	words *= 8;
	check(long_rounds, "many of 256 KiB");
	check(short_lives, "a communicator ends behind a broadcast");
	return done_testing();
}
