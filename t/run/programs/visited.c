/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that exchange messages of all lengths, every one with every other, until
 * a file is there: visited FILE.  Prints a line that begins with WRONG for what
 * arrives otherwise than it was sent.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const int sizes[] = { 8, 120, 3000, 8000, 40000, 300000, 1 << 20 };

#define SIZES (int)(sizeof(sizes) / sizeof(sizes[0]))
#define BYTES_MAX (1 << 20)

static unsigned char out[BYTES_MAX], in[BYTES_MAX];
static int rank, ranks;

static unsigned char byte_of(int from, int to, int round, int at)
{
	return (unsigned char)(from * 31 + to * 7 + round * 3 + at * 5 +
			       (at >> 8));
}

/* A message to one neighbour, one from the other. */
static void exchange(int round, int distance)
{
	int to = (rank + distance) % ranks;
	int from = (rank - distance + ranks) % ranks;
	int bytes = sizes[(round + distance) % SIZES], got = -1, wrong = 0;
	MPI_Status status;

	for (int i = 0; i < bytes; i++)
		out[i] = byte_of(rank, to, round, i);
	MPI_Sendrecv(out, bytes, MPI_BYTE, to, round, in, BYTES_MAX, MPI_BYTE,
		     from, round, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &got);
	for (int i = 0; i < bytes; i++)
		wrong += in[i] != byte_of(from, rank, round, i);
	if (wrong || got != bytes)
		printf("WRONG: rank %d, round %d: %d bytes, %d other, from "
		       "rank %d\n",
		       rank, round, got, wrong, from);
}

int main(int argc, char **argv)
{
	int stop = 0, round;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (round = 0; !stop; round++) {
		int sum = 0;

		for (int distance = 1; distance < ranks; distance++)
			exchange(round, distance);
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (sum != ranks * (ranks - 1) / 2)
			printf("WRONG: round %d: the sum is %d\n", round, sum);
		stop = rank == 0 && access(argv[1], F_OK) == 0;
		MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	if (rank == 0)
		printf("%d rounds\n", round);
	return 0;
}
