/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Some ranks send to rank 0 without a pause, and it does not receive for a
 * while; then it receives everything.  The others talk to each other meanwhile.
 *
 *	flood SECONDS BYTES
 *
 * Every even rank but 0 sends, odd ranks talk in a circle.  Prints how much was
 * sent and said, and by how many KiB the memory of each process has grown at
 * most; WRONG when a message is lost, doubled, out of order or not whole.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DATA = 1, LAST, TALK, QUIET, GO };

static int rank, size, bytes;
static double end;

/* A line of /proc/self/status, in KiB. */
static long memory_kib(const char *name)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[200];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			kib = atol(line + strlen(name) + 1);
	if (file)
		fclose(file);
	return kib;
}

static void fill(unsigned *words, unsigned number, int from)
{
	for (int i = 0; i < bytes / 4; i++)
		words[i] = number * 2654435761u + (unsigned)(i * 40503 + from);
}

static long send_all(void)
{
	unsigned *words = malloc((size_t)bytes);
	unsigned count = 0;

	while (MPI_Wtime() < end) {
		fill(words, count++, rank);
		MPI_Send(words, bytes, MPI_BYTE, 0, DATA, MPI_COMM_WORLD);
	}
	MPI_Send(&count, 1, MPI_UNSIGNED, 0, LAST, MPI_COMM_WORLD);
	free(words);
	return count;
}

static bool is_sender(int who)
{
	return who > 0 && who % 2 == 0;
}

/* Receives everything, once it is told to go on, by sender in order. */
static long receive_all(void)
{
	unsigned *words = malloc((size_t)bytes);
	unsigned *wanted = malloc((size_t)bytes);
	unsigned *next = calloc((size_t)size, sizeof(*next));
	MPI_Status status;
	long count = 0;
	int left = (size - 1) / 2;

	MPI_Recv(NULL, 0, MPI_INT, 1, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	while (left) {
		int from, length;

		MPI_Recv(words, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
			 MPI_COMM_WORLD, &status);
		from = status.MPI_SOURCE;
		MPI_Get_count(&status, MPI_BYTE, &length);
		if (status.MPI_TAG == LAST) {
			left--;
			if (words[0] != next[from])
				printf("WRONG: %u of %u from rank %d\n",
				       next[from], words[0], from);
			continue;
		}
		fill(wanted, next[from]++, from);
		if (length != bytes || memcmp(words, wanted, (size_t)bytes))
			printf("WRONG: message %u of rank %d\n", next[from] - 1,
			       from);
		count++;
	}
	free(words);
	free(wanted);
	free(next);
	return count;
}

/* Round and round among the odd ranks, as long as rank 1 says. */
static long talk(void)
{
	int count = size / 2, after = (rank + 2) % (2 * count);
	int before = (rank + 2 * count - 2) % (2 * count);
	int more = 1;
	long rounds = 0;

	while (more) {
		if (rank == 1) {
			more = MPI_Wtime() < end;
			MPI_Send(&more, 1, MPI_INT, after, TALK,
				 MPI_COMM_WORLD);
		}
		MPI_Recv(rank == 1 ? &(int){ 0 } : &more, 1, MPI_INT, before,
			 TALK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank != 1)
			MPI_Send(&more, 1, MPI_INT, after, TALK,
				 MPI_COMM_WORLD);
		rounds++;
	}
	if (rank == 1)
		MPI_Send(NULL, 0, MPI_INT, 0, GO, MPI_COMM_WORLD);
	return rounds;
}

int main(int argc, char **argv)
{
	long memory, count;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc != 3 || size < 4 || size % 2) {
		fprintf(stderr, "usage: flood SECONDS BYTES, with 4 ranks or "
				"more, an even number\n");
		return 2;
	}
	bytes = atoi(argv[2]) / 4 * 4;
	MPI_Barrier(MPI_COMM_WORLD);
	memory = memory_kib("VmRSS:");
	/* Senders have long stopped, or wait, when rank 0 begins. */
	end = MPI_Wtime() + atof(argv[1]) * (rank % 2 ? 1.5 : 1);
	count = rank == 0	? receive_all() :
		is_sender(rank) ? send_all() :
				  talk();
	MPI_Barrier(MPI_COMM_WORLD);
	printf("rank %d: %ld %s, %ld KiB more\n", rank, count,
	       rank == 0       ? "received" :
	       is_sender(rank) ? "sent" :
				 "rounds",
	       memory_kib("VmHWM:") - memory);
	MPI_Finalize();
	return 0;
}
