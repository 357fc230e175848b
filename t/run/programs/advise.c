/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs with one problem each, for vmpirun --advise:
 *
 *	advise quiet		ranks that compute and meet
 *	advise long BYTES N	pairs that wait for N long messages
 *	advise poll		a rank that tests until a message is there
 *	advise flood BYTES N	N messages before their receives
 *	advise uneven		ranks 0 and 1 compute, the others do not
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 10

static int rank, size;

static void compute(double seconds)
{
	double end = MPI_Wtime() + seconds;

	while (MPI_Wtime() < end)
		;
}

static void quiet(char **argv)
{
	(void)argv;
	compute(0.1);
	MPI_Barrier(MPI_COMM_WORLD);
	compute(0.1);
}

/* The halves of the job send to each other. */
static void messages(char **argv)
{
	int bytes = atoi(argv[2]), count = atoi(argv[3]);
	char *buffers = calloc(2 * WINDOW, (size_t)bytes);
	int other = (rank + size / 2) % size;

	for (int i = 0; i < count; i += WINDOW) {
		MPI_Request reqs[2 * WINDOW];

		for (int k = 0; k < WINDOW; k++) {
			char *out = buffers + 2 * k * (size_t)bytes;

			MPI_Irecv(out + bytes, bytes, MPI_CHAR, other, 0,
				  MPI_COMM_WORLD, &reqs[2 * k]);
			MPI_Isend(out, bytes, MPI_CHAR, other, 0,
				  MPI_COMM_WORLD, &reqs[2 * k + 1]);
		}
		MPI_Waitall(2 * WINDOW, reqs, MPI_STATUSES_IGNORE);
	}
	free(buffers);
}

static void poll(char **argv)
{
	int there = 0;

	(void)argv;
	for (double end = MPI_Wtime() + 2; rank == 0 && MPI_Wtime() < end;)
		MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there,
			   MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* What tells rank 0 that all are there comes after them. */
static void flood(char **argv)
{
	int bytes = atoi(argv[2]), count = atoi(argv[3]);
	char *buffer = calloc(1, (size_t)bytes);

	for (int i = 0; i < count && rank == 1; i++)
		MPI_Send(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Send(NULL, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Recv(NULL, 0, MPI_CHAR, 1, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	for (int i = 0; i < count && rank == 0; i++)
		MPI_Recv(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	compute(0.1);
	free(buffer);
}

static void uneven(char **argv)
{
	(void)argv;
	if (rank < 2)
		compute(0.2);
	MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
	const char *name;
	void (*run)(char **argv);
	int arguments;
} problems[] = {
	{ "quiet", quiet, 0 }, { "long", messages, 2 }, { "poll", poll, 0 },
	{ "flood", flood, 2 }, { "uneven", uneven, 0 },
};

int main(int argc, char **argv)
{
	int found = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++)
		if (argc == problems[i].arguments + 2 &&
		    !strcmp(argv[1], problems[i].name)) {
			problems[i].run(argv);
			found = 1;
		}
	MPI_Finalize();
	return !found;
}
