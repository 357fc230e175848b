/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the command argv[1], which writes over the file of this program or of its
 * library, and goes on in pages that nobody has touched so far. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE __attribute__((noinline, aligned(4096)))
#define FAR(name, next)                                          \
	static const int name##_constant[4096]                   \
		__attribute__((aligned(4096))) = { [4095] = 1 }; \
	static int name##_data[4096]                             \
		__attribute__((aligned(4096))) = { [4095] = 1 }; \
	PAGE static int name(int depth)                          \
	{                                                        \
		return name##_constant[4095 + depth] +           \
		       name##_data[4095 + depth] + next(depth);  \
	}

#ifdef LIBRARY
#define LAST(depth) (depth)
#else
int library(int depth);
#define LAST(depth) library(depth)
#endif

FAR(third, LAST)
FAR(second, third)
FAR(first, second)

#ifdef LIBRARY
int library(int depth)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return first(depth) + 0 * rank;
}
#else
int main(int argc, char **argv)
{
	int rank, status = 0, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		status = system(argv[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	sum = first(0);
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (rank == 0)
		printf("status %d sum %d\n", status, sum);
	MPI_Finalize();
	return 0;
}
#endif
