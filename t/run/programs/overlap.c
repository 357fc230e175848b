/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Even ranks send to the next odd ones, MESSAGES times, with computing between
 * the start and the wait at both.
 *
 * overlap BYTES [nonblocking|die|pcontrol]
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES 10

static volatile double sink;

static void compute(void)
{
	for (int i = 0; i < 100000; i++)
		sink += i * 0.5;
}

static void message(char *buffer, int bytes, int rank)
{
	MPI_Request request;

	if (rank % 2 == 0)
		MPI_Isend(buffer, bytes, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD,
			  &request);
	else
		MPI_Irecv(buffer, bytes, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD,
			  &request);
	compute();
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, bytes = argc > 1 ? atoi(argv[1]) : 8, failed = 0;
	const char *mode = argc > 2 ? argv[2] : "";
	char *buffer = calloc(1, (size_t)bytes + 1);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (!strcmp(mode, "pcontrol")) {
		MPI_Pcontrol(3, "outer");
		MPI_Pcontrol(3, "inner");
		message(buffer, bytes, rank);
		failed |= MPI_Pcontrol(-3, "inner") != MPI_SUCCESS;
		MPI_Pcontrol(0);
		message(buffer, bytes, rank);
		MPI_Pcontrol(1);
		failed |= MPI_Pcontrol(-3, "outer") != MPI_SUCCESS;
	} else {
		MPIX_Section_begin("loop");
		/* A message sent in the section arrives in it. */
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < MESSAGES; i++)
			message(buffer, bytes, rank);
		MPI_Barrier(MPI_COMM_WORLD);
		failed |= MPIX_Section_end("loop") != MPI_SUCCESS;
	}
	if (!strcmp(mode, "die") && rank == 1)
		raise(SIGKILL);
	if (failed)
		printf("rank %d: a section cannot be ended\n", rank);
	MPI_Finalize();
	free(buffer);
	return failed;
}
