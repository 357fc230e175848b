/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks exchange messages with all others, and look at every byte:
 *
 *	verified short|long ROUNDS
 *
 * Rank 0 prints how many messages were right when all are; each that is not is
 * reported in a line that begins with WRONG.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"

#define SIZES 5

static int rank, size, per_round;
static long right;

/* One message of each size to and from each other rank. */
struct exchange {
	int bytes[SIZES];
	char *in[SIZES], *out[SIZES];
	MPI_Request reqs[2 * SIZES];
};

static uint64_t number(int from, int to, int round, int i)
{
	return (uint64_t)round * 1000 + (uint64_t)from * 100 +
	       (uint64_t)to * 10 + (uint64_t)i;
}

static void begin(struct exchange *with, int peer, int round)
{
	for (int i = 0; i < per_round; i++) {
		memset(with->in[i], 0, (size_t)with->bytes[i]);
		MPI_Irecv(with->in[i], with->bytes[i], MPI_BYTE, peer, i,
			  MPI_COMM_WORLD, &with->reqs[2 * i]);
		pattern_fill(with->out[i], number(rank, peer, round, i),
			     (size_t)with->bytes[i]);
		MPI_Isend(with->out[i], with->bytes[i], MPI_BYTE, peer, i,
			  MPI_COMM_WORLD, &with->reqs[2 * i + 1]);
	}
}

static void end(struct exchange *with, int peer, int round)
{
	MPI_Waitall(2 * per_round, with->reqs, MPI_STATUSES_IGNORE);
	for (int i = 0; i < per_round; i++) {
		if (pattern_fits(with->in[i], number(peer, rank, round, i),
				 (size_t)with->bytes[i])) {
			right++;
			continue;
		}
		printf("WRONG: rank %d: round %d, %d bytes from rank %d\n",
		       rank, round, with->bytes[i], peer);
		fflush(stdout);
	}
}

/* What all ranks have counted, and whether reductions are right. */
static void sum_check(int round)
{
	int in[2] = { rank, round }, out[2] = { -1, -1 };

	MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (out[0] != size * (size - 1) / 2 || out[1] != size * round) {
		printf("WRONG: rank %d: sum of round %d\n", rank, round);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	static const int lengths[2][SIZES] = { { 8, 200, 3000, 9000, 16000 },
					       { 70000, 300000 } };
	struct exchange *with;
	long all = 0, wanted;
	int is_long, rounds;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	is_long = argc > 1 && !strcmp(argv[1], "long");
	rounds = argc > 2 ? atoi(argv[2]) : 1;
	per_round = is_long ? 2 : SIZES;
	with = calloc((size_t)size, sizeof(*with));
	for (int peer = 0; peer < size; peer++)
		for (int i = 0; i < per_round; i++) {
			with[peer].bytes[i] = lengths[is_long][i];
			with[peer].in[i] = malloc((size_t)with[peer].bytes[i]);
			with[peer].out[i] = malloc((size_t)with[peer].bytes[i]);
		}
	for (int round = 0; round < rounds; round++) {
		for (int peer = 0; peer < size; peer++)
			if (peer != rank)
				begin(&with[peer], peer, round);
		for (int peer = 0; peer < size; peer++)
			if (peer != rank)
				end(&with[peer], peer, round);
		sum_check(round);
	}
	MPI_Reduce(&right, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	wanted = (long)size * (size - 1) * rounds * per_round;
	if (rank == 0)
		printf("%s %ld of %ld messages\n",
		       all == wanted ? "verified" : "WRONG:", all, wanted);
	MPI_Finalize();
	return 0;
}
