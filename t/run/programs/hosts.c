/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank says how many there are and on which host it is.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char name[256] = "";
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	gethostname(name, sizeof(name) - 1);
	printf("%d/%d %s\n", rank, size, name);
	MPI_Finalize();
	return 0;
}
