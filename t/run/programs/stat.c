/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stat WHAT: a job to be looked at, which ignores SIGUSR1.
 *	circle	three ranks wait for each other, the others in a barrier
 *	sub	so do ranks of a communicator whose ranks have other numbers
 *	inter	and of an intercommunicator
 *	sleeps	one sleeps, the others wait for it, directly or not
 *	busy	rank 0 computes for ever, the others wait for it
 *	reads	rank 0 reads what nobody writes, the others wait for it
 *	ring	each waits for the next one
 *	values	rank 0 sends itself 17 messages, then waits for ever; the others
 *		wait for it
 *	end	ends
 *	fail	rank 1 exits with 3
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* The even ranks and the odd ones, the highest first. */
static MPI_Comm halves(int rank)
{
	MPI_Comm half;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	return half;
}

/* Rank 0 waits for 4, that for 2, that for 0, and the odd ones for them; of
 * 6. */
static void sub(int rank)
{
	MPI_Comm half = halves(rank);
	MPI_Request request;
	long two[1];
	int one;

	if (rank == 0)
		MPI_Recv(&one, 1, MPI_INT, 0, 5, half, MPI_STATUS_IGNORE);
	else if (rank == 4) {
		MPI_Irecv(two, 1, MPI_LONG, 1, 6, half, &request);
		MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
	} else if (rank == 5)
		MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		MPI_Barrier(half);
}

/* Each waits for the next one; of 4. */
static void inter(int rank)
{
	MPI_Comm half = halves(rank), both;
	int one = 0;

	/* Ranks 2 and 3 lead their halves. */
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 2 : 3, 1,
			     &both);
	if (rank == 0)
		MPI_Recv(&one, 1, MPI_INT, 1, 2, both, MPI_STATUS_IGNORE);
	else if (rank == 1)
		MPI_Ssend(&one, 1, MPI_INT, 0, 3, both);
	else if (rank == 2)
		MPI_Recv(&one, 1, MPI_INT, 0, 4, both, MPI_STATUS_IGNORE);
	else
		MPI_Barrier(both);
}

/* The waits of ranks 0 and 1 look like a circle; of 5. */
static void sleeps(int rank)
{
	MPI_Comm half = halves(rank);
	int one;

	if (rank == 0)
		MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 5, half,
			 MPI_STATUS_IGNORE);
	else if (rank == 1)
		MPI_Recv(&one, 1, MPI_INT, 0, 6, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	else if (rank == 4)
		sleep(100000);
	else
		MPI_Barrier(half);
}

static void busy(int rank, const char *what)
{
	MPI_Comm half = halves(rank);
	volatile int turns = 0;
	int one, ends[2];

	if (rank == 0 && !strcmp(what, "reads") && !pipe(ends) &&
	    read(ends[0], &one, 1))
		exit(4);
	if (rank == 0)
		for (;;)
			turns = !turns;
	MPI_Recv(&one, 1, MPI_INT, rank % 2 ? MPI_ANY_SOURCE : 0, 5, half,
		 MPI_STATUS_IGNORE);
}

static void ring(int rank)
{
	int size, one;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Recv(&one, 1, MPI_INT, (rank + 1) % size, 8, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
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

	signal(SIGUSR1, SIG_IGN);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (strcmp(what, "circle") == 0)
		circle(rank);
	else if (strcmp(what, "sub") == 0)
		sub(rank);
	else if (strcmp(what, "inter") == 0)
		inter(rank);
	else if (strcmp(what, "sleeps") == 0)
		sleeps(rank);
	else if (strcmp(what, "busy") == 0 || strcmp(what, "reads") == 0)
		busy(rank, what);
	else if (strcmp(what, "ring") == 0)
		ring(rank);
	else if (strcmp(what, "values") == 0)
		values(rank);
	else if (strcmp(what, "fail") == 0 && rank == 1)
		exit(3);
	MPI_Finalize();
	return 0;
}
