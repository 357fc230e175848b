/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks that swap a number as often as the argument says, and compute nothing.
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank, x = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = atoi(argv[1]); i > 0; i--)
		MPI_Sendrecv_replace(&x, 1, MPI_INT, !rank, 0, !rank, 0,
				     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
