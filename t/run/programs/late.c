/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late BYTES N M: rank 1 sends messages to rank 0, first N whose receive is
 * posted before they are offered, then M whose offer comes first.  The order
 * comes from other messages, not from waiting.
 *
 * late BYTES N M VARIABLE VALUE COUNTER: the receiver goes on to be late until
 * that variable of rank 0 has the value, and then the sender until that counter
 * of its process is no more 0.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <vmpi.h>

enum { BULK, TOKEN };

static void token(int rank, int from)
{
	if (rank == from)
		MPI_Send(NULL, 0, MPI_CHAR, !from, TOKEN, MPI_COMM_WORLD);
	else
		MPI_Recv(NULL, 0, MPI_CHAR, from, TOKEN, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
}

/* The receive, or the offer, and then the token that says so. */
static int message(int rank, char *buffer, int bytes, int sender_late, int i)
{
	MPI_Request req = MPI_REQUEST_NULL;

	memset(buffer, rank ? i : -1, (size_t)bytes);
	if (rank == 0 && !sender_late)
		token(rank, 1);
	if (rank == 0)
		MPI_Irecv(buffer, bytes, MPI_CHAR, 1, BULK, MPI_COMM_WORLD,
			  &req);
	if (sender_late)
		token(rank, 0);
	if (rank == 1)
		MPI_Isend(buffer, bytes, MPI_CHAR, 0, BULK, MPI_COMM_WORLD,
			  &req);
	if (rank == 1 && !sender_late)
		token(rank, 1);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
	return buffer[0] == (char)i && buffer[bytes - 1] == (char)i;
}

static int has(int rank, const char *name, const char *value)
{
	char text[64] = "";
	int yes = 0;

	if (rank == 0 && vmpi_get(name, text, sizeof(text)) == 0)
		yes = !strcmp(text, value);
	MPI_Bcast(&yes, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return yes;
}

static int counts(int rank, const char *name)
{
	uint64_t value = 0;
	int yes = rank == 0 && !vmpi_var_read(vmpi_var_find(name), &value) &&
		  value > 0;

	MPI_Bcast(&yes, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return yes;
}

int main(int argc, char **argv)
{
	int rank, bytes = atoi(argv[1]), right = 1;
	int posted = atoi(argv[2]), offered = atoi(argv[3]);
	char *buffer = malloc((size_t)bytes);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < posted + offered; i++)
		right &= message(rank, buffer, bytes, i < posted, i);
	for (int late = 0; argc > 6 && late < 2; late++)
		while (!(late ? counts(rank, argv[6]) :
				has(rank, argv[4], argv[5])))
			for (int i = 0; i < 10; i++)
				right &= message(rank, buffer, bytes, late, i);
	MPI_Finalize();
	return !right;
}
