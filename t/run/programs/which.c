/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank prints the name it was built with (WHICH), its number, that of its
 * program, its argument, and the sum of a variable that all have set to 1.
 */
#include <mpi.h>
#include <stdio.h>

static int one;

int main(int argc, char **argv)
{
	int rank, *number, there, sum;

	MPI_Init(&argc, &argv);
	one += 1;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &there);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("%d %s %d %s %d\n", rank, WHICH, there ? *number : -1,
	       argc > 1 ? argv[1] : "-", sum);
	MPI_Finalize();
	return 0;
}
