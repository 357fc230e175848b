/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collaborative polling: rank 0 sends to rank 2, of another process, which
 * computes when the messages come; rank 3, of the same process on another
 * worker, waits.  How long does rank 2 wait when it has computed?  With
 * core_help its messages have landed meanwhile; without, they begin to come.
 *
 *	for help in 0 1; do
 *		vmpirun -n 4 --nodes 2 --workers 2 --set core_help=$help ./polling
 *	done
 *
 * Prints one line: microseconds computed and waited, the median of ROUNDS.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 51
#define MESSAGES 8
#define BYTES (1 << 20)
#define COMPUTE_S 0.02
enum { SENDER = 0, IDLE_THERE = 1, COMPUTER = 2, HELPER = 3, RANKS = 4 };

static double computed[ROUNDS], waited[ROUNDS];

static void compute(void)
{
	double end = MPI_Wtime() + COMPUTE_S;
	volatile double x = 1;

	while (MPI_Wtime() < end)
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2] * 1e6;
}

static void receive(char *buffer, int round)
{
	MPI_Request reqs[MESSAGES];
	double start, middle;

	for (int i = 0; i < MESSAGES; i++)
		MPI_Irecv(buffer + (size_t)i * BYTES, BYTES, MPI_CHAR, SENDER,
			  i, MPI_COMM_WORLD, &reqs[i]);
	MPI_Send(NULL, 0, MPI_CHAR, SENDER, 0, MPI_COMM_WORLD);
	start = MPI_Wtime();
	compute();
	middle = MPI_Wtime();
	MPI_Waitall(MESSAGES, reqs, MPI_STATUSES_IGNORE);
	computed[round] = middle - start;
	waited[round] = MPI_Wtime() - middle;
	/* Who waits is done too. */
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
	if (size != RANKS || !buffer) {
		fprintf(stderr, "polling: needs %d ranks\n", RANKS);
		return 2;
	}
	for (int i = 0; i < ROUNDS; i++) {
		if (rank == SENDER)
			send(buffer);
		else if (rank == COMPUTER)
			receive(buffer, i);
		else if (rank == HELPER)
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
