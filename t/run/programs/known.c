/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known calls: each rank sends MESSAGES messages of BYTES bytes to its right
 * neighbour and gets as many, in the section "ring"; "rest" within it has one
 * barrier.  Then MPI_Allreduce twice.  With an argument rank 1 ends the job.
 */
#include <mpi.h>
#include <stdlib.h>

#define MESSAGES 10
#define BYTES 1000

int main(int argc, char **argv)
{
	static char in[BYTES], out[BYTES];
	int rank, size, one = 1, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPIX_Section_begin("ring");
	for (int i = 0; i < MESSAGES; i++) {
		MPI_Request request;

		MPI_Irecv(in, BYTES, MPI_BYTE, (rank + size - 1) % size, 1,
			  MPI_COMM_WORLD, &request);
		MPI_Send(out, BYTES, MPI_BYTE, (rank + 1) % size, 1,
			 MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPIX_Section_begin("rest");
	MPI_Barrier(MPI_COMM_WORLD);
	MPIX_Section_end("rest");
	MPIX_Section_end("ring");
	for (int i = 0; i < 2; i++)
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (argc > 1 && rank == 1)
		exit(7);
	MPI_Finalize();
	return sum == size ? 0 : 1;
}
