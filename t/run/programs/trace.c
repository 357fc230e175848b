/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job to be traced: rounds of messages round a ring, short and long ones by
 * turns, with a collective now and then.  Arguments: rounds, and the rank that
 * exits in the middle with status 3 (-1: none does).
 */
#include <mpi.h>
#include <stdlib.h>

#define LONG 300000

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	int quits = argc > 2 ? atoi(argv[2]) : -1;
	char *out = calloc(1, LONG), *in = calloc(1, LONG);
	MPI_Request request;
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < rounds; i++) {
		int bytes = i % 2 ? 8 : LONG;

		MPI_Irecv(in, bytes, MPI_BYTE, (rank + size - 1) % size, 7,
			  MPI_COMM_WORLD, &request);
		MPI_Send(out, bytes, MPI_BYTE, (rank + 1) % size, 7,
			 MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (i % 5 == 4)
			MPI_Barrier(MPI_COMM_WORLD);
		if (rank == quits && i == rounds / 2)
			exit(3);
	}
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
