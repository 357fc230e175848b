/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stat WHAT: a job to be looked at.
 *	circle	three ranks wait for each other, the others in a barrier
 *	values	rank 0 sends itself 17 messages, then waits for ever; the others
 *		wait for it
 *	end	ends
 *	fail	rank 1 exits with 3
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void circle(int rank)
{
	MPI_Request request;
	long two[1];
	int one;

	if (rank == 0)
		MPI_Recv(&one, 1, MPI_INT, 1, 7, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	else if (rank == 1)
		MPI_Probe(2, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else if (rank == 2) {
		MPI_Irecv(two, 1, MPI_LONG, 0, 9, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else
		MPI_Barrier(MPI_COMM_WORLD);
}

static void values(int rank)
{
	int one = 0;

	for (int i = 0; rank == 0 && i < 17; i++) {
		MPI_Request request;

		MPI_Irecv(&one, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
		MPI_Send(&one, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Recv(&one, 1, MPI_INT, rank ? 0 : MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "end";
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (strcmp(what, "circle") == 0)
		circle(rank);
	else if (strcmp(what, "values") == 0)
		values(rank);
	else if (strcmp(what, "fail") == 0 && rank == 1)
		exit(3);
	MPI_Finalize();
	return 0;
}
