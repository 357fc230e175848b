/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What workers cost that have nothing to do: two ranks exchange a message of 8
 * bytes back and forth while all others wait for one.  For one rank per worker;
 * growth.sh runs it with up to 256.
 *
 *	growth [--known] [ROUNDS]
 *
 * --known: all ranks have sent messages to the two before, so that each could do
 * so again.  Prints half a round trip in ns, the least of five runs, and the
 * memory of the process in MiB.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 5, GREETINGS = 3 };

static int rank, ranks;

/* So many rounds between ranks 0 and 1; the time of half a one. */
static double exchange(int rounds)
{
	double start = MPI_Wtime();
	char data[8] = { 0 };

	for (int i = 0; i < rounds; i++) {
		if (rank == 0)
			MPI_Send(data, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(data, 8, MPI_CHAR, !rank, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(data, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
	}
	return (MPI_Wtime() - start) / rounds / 2 * 1e9;
}

static void greet(void)
{
	for (int i = 0; i < GREETINGS; i++)
		for (int to = 0; to < 2; to++)
			for (int from = 0; from < ranks; from++) {
				if (rank == from)
					MPI_Send(NULL, 0, MPI_CHAR, to, 1,
						 MPI_COMM_WORLD);
				if (rank == to)
					MPI_Recv(NULL, 0, MPI_CHAR, from, 1,
						 MPI_COMM_WORLD,
						 MPI_STATUS_IGNORE);
			}
}

/* Of the process: MiB that it has in memory. */
static double memory(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	double kib = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %lf", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib / 1024;
}

int main(int argc, char **argv)
{
	int known = argc > 1 && !strcmp(argv[1], "--known");
	int rounds = argc > 1 + known ? atoi(argv[1 + known]) : 100000;
	double least = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks < 2 || rounds < 1) {
		fprintf(stderr, "growth: needs two ranks and some rounds\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	if (known)
		greet();
	for (int i = 0; i < RUNS && rank < 2; i++) {
		double ns = exchange(rounds);

		if (!least || ns < least)
			least = ns;
	}
	if (rank == 0)
		printf("%.0f ns, %.1f MiB\n", least, memory());
	for (int to = 2; to < ranks && rank == 0; to++)
		MPI_Send(NULL, 0, MPI_CHAR, to, 2, MPI_COMM_WORLD);
	if (rank >= 2)
		MPI_Recv(NULL, 0, MPI_CHAR, 0, 2, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
