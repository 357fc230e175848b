/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collaborative polling: rank 2 computes while messages come to it; ranks on
 * another worker of its process wait.  How long does rank 2 wait when it has
 * computed?  With core_collaborative_polling its messages have landed
 * meanwhile; without, they begin to come.
 *
 *	helping far|near ROUNDS
 *
 * 4 ranks on 2 workers of each of 2 processes.  far: the messages are those of
 * rank 0, of the other process.  near: of rank 3, of the same process, which
 * waits for them to be received.  Prints microseconds computed and waited, the
 * medians of ROUNDS; helping.sh compares.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MAX 1000
#define MESSAGES 8
#define BYTES (1 << 20)
#define LOOPS 10000000 /* of computing: some 20 ms */
enum { SENDER = 0, IDLE_THERE = 1, COMPUTER = 2, HELPER = 3, RANKS = 4 };

static double computed[ROUNDS_MAX], waited[ROUNDS_MAX];
static int sender, rounds;

/* A fixed amount of work: it takes longer if another thread takes the
 * processor. */
static void compute(void)
{
	volatile double x = 1;

	for (int i = 0; i < LOOPS; i++)
		x = x * 1.0000001 + 1e-9;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static double median(double *values)
{
	qsort(values, (size_t)rounds, sizeof(*values), compare);
	return values[rounds / 2] * 1e6;
}

static void receive(char *buffer, int round)
{
	MPI_Request reqs[MESSAGES];
	double start, middle;

	for (int i = 0; i < MESSAGES; i++)
		MPI_Irecv(buffer + (size_t)i * BYTES, BYTES, MPI_CHAR, sender,
			  i, MPI_COMM_WORLD, &reqs[i]);
	MPI_Send(NULL, 0, MPI_CHAR, sender, 0, MPI_COMM_WORLD);
	start = MPI_Wtime();
	compute();
	middle = MPI_Wtime();
	MPI_Waitall(MESSAGES, reqs, MPI_STATUSES_IGNORE);
	computed[round] = middle - start;
	waited[round] = MPI_Wtime() - middle;
	/* The waiting rank is done too. */
	if (sender != HELPER)
		MPI_Send(NULL, 0, MPI_CHAR, HELPER, 0, MPI_COMM_WORLD);
}

static void send(char *buffer)
{
	MPI_Request reqs[MESSAGES];

	MPI_Recv(NULL, 0, MPI_CHAR, COMPUTER, 0, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	for (int i = 0; i < MESSAGES; i++)
		MPI_Isend(buffer + (size_t)i * BYTES, BYTES, MPI_CHAR, COMPUTER,
			  i, MPI_COMM_WORLD, &reqs[i]);
	MPI_Waitall(MESSAGES, reqs, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	char *buffer = calloc(MESSAGES, BYTES);
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	sender = argc > 1 && !strcmp(argv[1], "near") ? HELPER : SENDER;
	rounds = argc > 2 ? atoi(argv[2]) : 0;
	if (size != RANKS || !buffer || rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr,
			"helping: needs far or near, a number of rounds "
			"up to %d, and %d ranks\n",
			ROUNDS_MAX, RANKS);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	for (int i = 0; i < rounds; i++) {
		if (rank == sender)
			send(buffer);
		else if (rank == COMPUTER)
			receive(buffer, i);
		else if (rank == HELPER) /* idle */
			MPI_Recv(NULL, 0, MPI_CHAR, COMPUTER, 0, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
	}
	if (rank == COMPUTER) {
		printf("computed %.0f us, waited %.0f us\n", median(computed),
		       median(waited));
		fflush(stdout);
	}
	MPI_Finalize();
	return 0;
}
