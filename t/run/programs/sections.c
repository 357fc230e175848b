/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four ranks that compute in sections: one within another, and one that the ranks
 * of the other process are not in.
 */
#include <mpi.h>
#include <time.h>

static void compute(const char *name)
{
	clock_t begin = clock();

	MPIX_Section_begin(name);
	while (clock() - begin < CLOCKS_PER_SEC / 100)
		;
	MPIX_Section_end(name);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPIX_Section_begin("outer");
	compute("inner");
	MPIX_Section_end("outer");
	/* Ranks 0 and 1 are process 0. */
	compute(rank < 2 ? "even" : "odd");
	MPI_Finalize();
	return 0;
}
