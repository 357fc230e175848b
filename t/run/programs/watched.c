/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for vmpitop to watch: watched FILE [hang | halves]
 *
 * Rank r sends r + 1 messages a round to its right neighbour, until FILE is
 * there; rank 0 reports when core_eager_limit changes.  hang: all wait for a
 * message of their right neighbour, which never comes.  halves: until FILE is
 * there, ranks with odd numbers look for messages, and the others wait for one.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <vmpi.h>

static int rank, size;

static void limit_say(void)
{
	static char known[32];
	char value[32];

	if (vmpi_get("core_eager_limit", value, sizeof(value)) ||
	    !strcmp(value, known))
		return;
	strcpy(known, value);
	printf("limit %s\n", known);
	fflush(stdout);
}

static void round_go(void)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	int word = rank;
	MPI_Request request;

	for (int i = 0; i <= rank; i++) {
		MPI_Isend(&word, 1, MPI_INT, right, 1, MPI_COMM_WORLD,
			  &request);
		MPI_Request_free(&request);
	}
	for (int i = 0; i <= left; i++)
		MPI_Recv(&word, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
}

static void half_run(const char *file)
{
	int odd = rank % 2, word = 0, there;

	if (!odd)
		MPI_Recv(&word, 1, MPI_INT, rank + 1, 7, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	while (odd && access(file, F_OK) != 0)
		MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &there,
			   MPI_STATUS_IGNORE);
	if (odd)
		MPI_Send(&word, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int go = 1, word;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc > 2 && !strcmp(argv[2], "halves"))
		half_run(argv[1]);
	else if (argc > 2)
		MPI_Recv(&word, 1, MPI_INT, (rank + 1) % size, 7,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	while (argc == 2 && go) {
		round_go();
		if (rank == 0) {
			limit_say();
			usleep(2000);
			go = access(argv[1], F_OK) != 0;
		}
		MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
