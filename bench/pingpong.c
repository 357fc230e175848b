/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ping-pong between two ranks, windows of messages, and a stream one way.
 *
 *	pingpong [--quick] [long]
 *
 * Each rank has one buffer: what goes out is what came in, so that across two
 * cores every byte has just been written by the other one.  Prints "SIZE ns"
 * (half round trip; `long`: up to 4 MiB), "window-SIZE messages/s" (WINDOW of
 * them, then an acknowledgement) and "stream ns" (a blocking send, no answer).
 */
#include <stdbool.h>
#include <sys/mman.h>

#include "pair.h"

#define HUGE_PAGE ((size_t)1 << 21)
#define BUFFER_BYTES ((size_t)1 << 23)
#define WINDOW 64
#define STREAM_BYTES 4

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

static void window(int rank, int n, void *arg)
{
	const struct message *message = arg;
	int bytes = message->bytes;
	MPI_Request requests[WINDOW];

	for (int i = 0; i < n; i++) {
		for (int j = 0; j < WINDOW; j++) {
			char *buffer = message->buffer + (size_t)j * bytes;

			if (rank == 0)
				MPI_Isend(buffer, bytes, MPI_BYTE, 1, TAG_WORK,
					  MPI_COMM_WORLD, &requests[j]);
			else
				MPI_Irecv(buffer, bytes, MPI_BYTE, 0, TAG_WORK,
					  MPI_COMM_WORLD, &requests[j]);
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

/* All messages of a batch one way; rank 1 says when it has the last one. */
static void stream(int rank, int n, void *arg)
{
	const struct message *message = arg;

	for (int i = 0; i < n; i++)
		if (rank == 0)
			MPI_Send(message->buffer, STREAM_BYTES, MPI_BYTE, 1,
				 TAG_WORK, MPI_COMM_WORLD);
		else
			MPI_Recv(message->buffer, STREAM_BYTES, MPI_BYTE, 0,
				 TAG_WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 0)
		MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_WORK, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	else
		MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_WORK, MPI_COMM_WORLD);
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

/* On rank 0 the time of one repetition, after which rank 1 has what it should
 * have of the buffer. */
static double measure(int rank, const struct effort *effort, pair_work work,
		      struct message *message, size_t bytes)
{
	double ns;

	buffer_fill(rank, message->buffer);
	ns = pair_measure(rank, effort, work, message);
	buffer_check(rank, message->buffer, bytes);
	return ns;
}

static void measure_all(int rank, const struct effort *effort,
			struct message *message, bool more)
{
	static const int sizes[] = { 8, 1024, 65536, 1 << 20, 4 << 20 };
	static const int windows[] = { 8, 1024, 8192, 65536 };
	size_t count = sizeof(sizes) / sizeof(*sizes) - !more;
	double ns;

	for (size_t i = 0; i < count; i++) {
		message->bytes = sizes[i];
		ns = measure(rank, effort, ping, message, (size_t)sizes[i]);
		if (rank == 0)
			printf("%d %.2f\n", sizes[i], ns / 2);
	}
	for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		message->bytes = windows[i];
		ns = measure(rank, effort, window, message,
			     (size_t)WINDOW * windows[i]);
		if (rank == 0)
			printf("window-%d %.0f\n", windows[i],
			       WINDOW / ns * 1e9);
	}
	ns = measure(rank, effort, stream, message, STREAM_BYTES);
	if (rank == 0)
		printf("stream %.2f\n", ns);
}

int main(int argc, char **argv)
{
	bool more = argc > 1 && !strcmp(argv[argc - 1], "long");
	struct effort effort = effort_of(argc, argv);
	int rank = pair_rank(&argc, &argv);
	struct message message = { .buffer = aligned_alloc(HUGE_PAGE,
							   BUFFER_BYTES) };

	if (!message.buffer)
		MPI_Abort(MPI_COMM_WORLD, 1);
	madvise(message.buffer, BUFFER_BYTES, MADV_HUGEPAGE);
	measure_all(rank, &effort, &message, more);
	free(message.buffer);
	MPI_Finalize();
	return 0;
}
