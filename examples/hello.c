/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hello: the first MPI program.  Build and run it with
 *	vmpicc -o hello hello.c && vmpirun -n 8 ./hello
 */
#include <mpi.h>
#include <stdio.h>

/* Each rank has its own, as if it were a process. */
static int greetings;

int main(int argc, char **argv)
{
	char where[MPI_MAX_PROCESSOR_NAME];
	int rank, size, length, all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Get_processor_name(where, &length);
	printf("hello from rank %d of %d on %s\n", rank, size, where);
	greetings++;
	MPI_Allreduce(&greetings, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks greeted, each %d time\n", all, greetings);
	MPI_Finalize();
	return greetings == 1 && all == size ? 0 : 1;
}
