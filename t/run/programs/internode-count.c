/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seven reductions.
 */
#include <mpi.h>

int main(int argc, char **argv)
{
	static double in[1000], out[1000];

	MPI_Init(&argc, &argv);
	for (int i = 0; i < 7; i++)
		MPI_Allreduce(in, out, 1000, MPI_DOUBLE, MPI_SUM,
			      MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
