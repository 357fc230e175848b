/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that looks at what it receives: short and long messages around a ring,
 * collectives, a wildcard.  Rank 0 prints "right"; whoever finds something wrong
 * exits with 3.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define LONG 300000

static char here[LONG], there[LONG];

static int ring(int rank, int size, int bytes)
{
	int next = (rank + 1) % size, last = (rank + size - 1) % size;
	int wrong = 0;

	memset(here, rank + 1, sizeof(here));
	memset(there, 0, sizeof(there));
	MPI_Sendrecv(here, bytes, MPI_CHAR, next, bytes, there, bytes, MPI_CHAR,
		     last, bytes, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < LONG; i++)
		wrong += there[i] != (i < bytes ? last + 1 : 0);
	return wrong;
}

/* All send to rank 0, which takes them as they come. */
static int gather(int rank, int size)
{
	int sum = 0, value;

	if (rank)
		MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
	for (int i = 1; !rank && i < size; i++) {
		MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		sum += value;
	}
	return !rank && sum != size * (size - 1) / 2;
}

int main(int argc, char **argv)
{
	int rank, size, sum = 0, wrong;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	wrong = ring(rank, size, 8) + ring(rank, size, LONG);
	wrong += gather(rank, size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	wrong += sum != size * (size - 1) / 2 || size != 4;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0 && !wrong)
		puts("right");
	MPI_Finalize();
	return wrong ? 3 : 0;
}
