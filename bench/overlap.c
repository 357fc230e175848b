/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overlap of messages with computing, as it grows with the computing: each rank
 * of the second half sends to its partner in the first one, in a loop, and both
 * compute after the start of their half of it.  Who receives says so before, so
 * a message, or the offer of one, arrives when its receive has been posted long
 * since.
 *
 * overlap MODE BYTES MS: MODE is ir (Isend, Recv), si (Send, Irecv) or ii
 * (Isend, Irecv); who blocks computes after that.  overlap.sh runs it by each
 * protocol, with a slow network, and makes the table from the reports of
 * vmpirun --overlap.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MESSAGES 10

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Without a call of MPI, which would be one. */
static void compute(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		;
}

static void send(char *buffer, int bytes, int to, int waits, double seconds)
{
	MPI_Request request = MPI_REQUEST_NULL;

	MPI_Recv(NULL, 0, MPI_CHAR, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (waits)
		MPI_Isend(buffer, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD,
			  &request);
	else
		MPI_Send(buffer, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD);
	compute(seconds);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive(char *buffer, int bytes, int from, int waits,
		    double seconds)
{
	MPI_Request request = MPI_REQUEST_NULL;

	MPI_Send(NULL, 0, MPI_CHAR, from, 1, MPI_COMM_WORLD);
	if (waits)
		MPI_Irecv(buffer, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD,
			  &request);
	else
		MPI_Recv(buffer, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	compute(seconds);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "ii";
	int bytes = argc > 2 ? atoi(argv[2]) : 1000000;
	double seconds = argc > 3 ? atof(argv[3]) * 1e-3 : 0;
	char *buffer = malloc((size_t)bytes + 1);
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!buffer || size % 2 || strlen(mode) != 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	memset(buffer, 1, (size_t)bytes + 1);
	MPI_Pcontrol(3, "loop");
	for (int i = 0; i < MESSAGES; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank >= size / 2)
			send(buffer, bytes, rank - size / 2, mode[0] == 'i',
			     seconds);
		else
			receive(buffer, bytes, rank + size / 2, mode[1] == 'i',
				seconds);
	}
	MPI_Pcontrol(-3, "loop");
	MPI_Finalize();
	free(buffer);
	return 0;
}
