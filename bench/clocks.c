/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Table 1 of Nigay et al., "Communication and timing issues with MPI
 * virtualization" (2020): each rank holds its core for a second, all meet in a
 * barrier, and each says how long that took by MPI_Wtime and by MPIX_Rtime.
 *
 *	vmpicc -O2 -o clocks clocks.c
 *	vmpirun -n 2 --workers 1 clocks [--how kernel|compute|sleep] [SECONDS]
 *
 * The paper's program sleeps, and its runtime does not know that, so that the
 * core is held ("kernel", the default).  vmpi knows sleep(3) and lets other
 * ranks run meanwhile ("sleep"): then nobody waits for the other.  Other MPIs
 * have no rank time; their column is a dash.
 */
#define _GNU_SOURCE /* syscall() */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MPIX_HAVE_RANK_TIME
#define MPIX_Rtime() (-1.0)
#endif

static const char *how = "kernel";
static double seconds = 1;

static void hold(void)
{
	struct timespec time = { .tv_sec = (time_t)seconds };
	double start = MPI_Wtime();

	time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
	if (strcmp(how, "kernel") == 0)
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
	else if (strcmp(how, "sleep") == 0)
		nanosleep(&time, NULL);
	else
		while (MPI_Wtime() - start < seconds)
			continue;
}

static int arguments(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--how") == 0 && i + 1 < argc)
			how = argv[++i];
		else
			seconds = strtod(argv[i], NULL);
	}
	if (seconds > 0 &&
	    (strcmp(how, "kernel") == 0 || strcmp(how, "sleep") == 0 ||
	     strcmp(how, "compute") == 0))
		return 0;
	fprintf(stderr, "clocks: usage: clocks [--how kernel|compute|sleep] "
			"[SECONDS]\n");
	return 2;
}

/* Prints rank, MPI_Wtime, MPIX_Rtime; and the time of all, that of the first to
 * begin. */
static void table_print(const double *rows, int size)
{
	double all = 0;

	printf("%6s %12s %12s\n", "rank", "MPI_Wtime", "MPIX_Rtime");
	for (int i = 0; i < size; i++) {
		if (rows[2 * i] > all)
			all = rows[2 * i];
		printf("%6d %12.3f ", i, rows[2 * i]);
		if (rows[2 * i + 1] < 0)
			printf("%12s\n", "-");
		else
			printf("%12.3f\n", rows[2 * i + 1]);
	}
	printf("%6s %12.3f\n", "all", all);
}

int main(int argc, char **argv)
{
	double mine[2], *rows = NULL;
	int rank, size, rc = arguments(argc, argv);

	if (rc)
		return rc;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	mine[0] = MPI_Wtime();
	mine[1] = MPIX_Rtime();
	hold();
	MPI_Barrier(MPI_COMM_WORLD);
	mine[1] = mine[1] < 0 ? -1 : MPIX_Rtime() - mine[1];
	mine[0] = MPI_Wtime() - mine[0];
	if (rank == 0)
		rows = calloc((size_t)size, sizeof(mine));
	MPI_Gather(mine, 2, MPI_DOUBLE, rows, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	if (rows)
		table_print(rows, size);
	free(rows);
	MPI_Finalize();
	return 0;
}
