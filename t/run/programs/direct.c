/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints which way this program's calls go: through the entries of the library,
 * as the dynamic linker finds them, or past them to the functions themselves.
 * Every address of a function in one program is the same.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

typedef int call_type(MPI_Comm comm);

static call_type *const table[] = { MPI_Barrier, MPI_Barrier };
static call_type *volatile chosen;

int main(int argc, char **argv)
{
	call_type *entry = (call_type *)dlsym(RTLD_DEFAULT, "MPI_Barrier");
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	chosen = MPI_Barrier;
	chosen(MPI_COMM_WORLD);
	table[1](MPI_COMM_WORLD);
	printf("rank %d: %s%s\n", rank,
	       chosen == entry ? "by the entry" : "past the entry",
	       chosen == table[0] ? "" : ", two addresses");
	MPI_Finalize();
	return 0;
}
