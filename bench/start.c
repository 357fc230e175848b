/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The least of all MPI programs.  With the argument "memory" it prints how much
 * memory its ranks have after a barrier, in KiB (PSS): that of one process if
 * all ranks live in one, else the sum over theirs.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The proportional set size of this process in KiB, or -1. */
static long pss_kib(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kib = -1;

	if (!file)
		return -1;
	while (kib < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "Pss: %ld kB", &kib) != 1)
			kib = -1;
	fclose(file);
	return kib;
}

static void memory_print(int rank)
{
	int pid = getpid();
	long mine = 0, sum;

	MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (rank == 0 || pid != getpid())
		mine = pss_kib();
	MPI_Reduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%ld\n", sum);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (argc > 1 && !strcmp(argv[1], "memory"))
		memory_print(rank);
	MPI_Finalize();
	return 0;
}
