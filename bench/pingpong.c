/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ping-pong between two ranks, and the rate of small messages.
 *
 *	pingpong [--quick] [long]
 *
 * Each rank has one buffer: what goes out is what came in, so that across two
 * cores every byte has just been written by the other one.  Prints "SIZE ns"
 * (half round trip; `long`: up to 4 MiB) and "rate messages/s" (8 bytes, WINDOW
 * of them, then an acknowledgement).
 */
#include <stdbool.h>
#include <sys/mman.h>

#include "pair.h"

#define HUGE_PAGE ((size_t)1 << 21)
#define BUFFER_BYTES ((size_t)1 << 23)
#define WINDOW 64
#define RATE_BYTES 8

struct message {
	char *buffer;
	int bytes;
};

static void ping(int rank, int n, void *arg)
{
	const struct message *message = arg;
	char *buffer = message->buffer;
	int bytes = message->bytes;

	for (int i = 0; i < n; i++) {
		if (rank == 0)
			MPI_Send(buffer, bytes, MPI_BYTE, 1, TAG_WORK,
				 MPI_COMM_WORLD);
		MPI_Recv(buffer, bytes, MPI_BYTE, !rank, TAG_WORK,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(buffer, bytes, MPI_BYTE, 0, TAG_WORK,
				 MPI_COMM_WORLD);
	}
}

static void stream(int rank, int n, void *arg)
{
	const struct message *message = arg;
	MPI_Request requests[WINDOW];

	for (int i = 0; i < n; i++) {
		for (int j = 0; j < WINDOW; j++) {
			char *buffer = message->buffer + j * RATE_BYTES;

			if (rank == 0)
				MPI_Isend(buffer, RATE_BYTES, MPI_BYTE, 1,
					  TAG_WORK, MPI_COMM_WORLD,
					  &requests[j]);
			else
				MPI_Irecv(buffer, RATE_BYTES, MPI_BYTE, 0,
					  TAG_WORK, MPI_COMM_WORLD,
					  &requests[j]);
		}
		MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
		if (rank == 0)
			MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_WORK, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		else
			MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_WORK,
				 MPI_COMM_WORLD);
	}
}

/* The byte at i of what rank 0 sends. */
static char pattern(size_t i)
{
	return (char)(i * 7 + i / 256 + 1);
}

/* Rank 1 has what rank 0 sent, and nothing else came with it. */
static void buffer_check(int rank, const char *buffer, size_t bytes)
{
	for (size_t i = 0; rank == 1 && i < BUFFER_BYTES; i++)
		if (buffer[i] != (i < bytes ? pattern(i) : 0)) {
			fprintf(stderr, "byte %zu of %zu is wrong\n", i, bytes);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
}

static void buffer_fill(int rank, char *buffer)
{
	for (size_t i = 0; i < BUFFER_BYTES; i++)
		buffer[i] = rank == 0 ? pattern(i) : 0;
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 8, 1024, 65536, 1 << 20, 4 << 20 };
	bool more = argc > 1 && !strcmp(argv[argc - 1], "long");
	size_t count = sizeof(sizes) / sizeof(*sizes) - !more;
	struct effort effort = effort_of(argc, argv);
	int rank = pair_rank(&argc, &argv);
	struct message message = { .buffer = aligned_alloc(HUGE_PAGE,
							   BUFFER_BYTES) };
	double ns;

	if (!message.buffer)
		MPI_Abort(MPI_COMM_WORLD, 1);
	madvise(message.buffer, BUFFER_BYTES, MADV_HUGEPAGE);
	for (size_t i = 0; i < count; i++) {
		message.bytes = (int)sizes[i];
		buffer_fill(rank, message.buffer);
		ns = pair_measure(rank, &effort, ping, &message);
		buffer_check(rank, message.buffer, sizes[i]);
		if (rank == 0)
			printf("%zu %.2f\n", sizes[i], ns / 2);
	}
	buffer_fill(rank, message.buffer);
	ns = pair_measure(rank, &effort, stream, &message);
	buffer_check(rank, message.buffer, (size_t)WINDOW * RATE_BYTES);
	if (rank == 0)
		printf("rate %.0f\n", WINDOW / ns * 1e9);
	free(message.buffer);
	MPI_Finalize();
	return 0;
}
