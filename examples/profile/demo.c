/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for the profiler: rank 0 hands out work and waits for the results,
 * while the others, on the same core, compute.  On one core all that computing
 * happens within rank 0's calls, and none of it may be charged to rank 0.
 */
#include <mpi.h>
#include <stdio.h>

#include "profile.h"

/* Computes for some milliseconds; how long that was. */
static double compute(void)
{
	double start = MPI_Wtime(), now;

	do
		now = MPI_Wtime();
	while (now - start < 2e-3);
	return now - start;
}

int main(int argc, char **argv)
{
	struct profile_times send, receive;
	double worked, sum = 0, wall, ran;
	int rank, size, wrong = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank > 0) {
		MPI_Recv(&worked, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		worked = compute();
		MPI_Send(&worked, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
		MPI_Finalize();
		return 0;
	}
	for (int i = 1; i < size; i++)
		MPI_Send(&sum, 1, MPI_DOUBLE, i, 0, MPI_COMM_WORLD);
	for (int i = 1; i < size; i++, sum += worked)
		MPI_Recv(&worked, 1, MPI_DOUBLE, i, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	send = profile_of("MPI_Send");
	receive = profile_of("MPI_Recv");
	wall = send.wall + receive.wall;
	ran = send.rank + receive.rank;
	/* Both need all other ranks on this core: vmpirun --workers 1. */
	wrong += wall < sum;
	wrong += ran > wall - sum + 1e-6;
	MPI_Finalize();
	printf("the others computed %.3f ms: %s wall-clock time of rank 0's "
	       "calls, %s rank time\n",
	       sum * 1e3, wall < sum ? "not in the" : "in the",
	       ran > wall - sum + 1e-6 ? "and in the" : "not in the");
	return wrong;
}
