/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What files.c measures without an MPI: so many processes each write and read
 * their pieces of one file, a system call for each.
 *
 *	raw_files [--quick] RANKS FILE
 *
 * Of segments this is the machine's limit.  A process that waits for the others
 * sleeps in the kernel.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

#define TOTAL ((size_t)64 << 20)
#define SIDE 160
#define TIMES 5

/* What the processes share. */
static struct shared {
	_Atomic int arrived, round;
	_Atomic int wrong;
	double begin[256], end[256];
} * shared;

/* Some contiguous pieces of the file: `counts` of them in two dimensions. */
struct pieces {
	off_t first, strides[2];
	size_t counts[2], bytes;
};

static int rank, size, times = TIMES;
static const char *path;

static void barrier(void)
{
	int round = atomic_load(&shared->round);

	if (atomic_fetch_add(&shared->arrived, 1) == size - 1) {
		atomic_store(&shared->arrived, 0);
		atomic_store(&shared->round, round + 1);
		syscall(SYS_futex, &shared->round, FUTEX_WAKE, size, NULL, NULL,
			0);
		return;
	}
	while (atomic_load(&shared->round) == round)
		syscall(SYS_futex, &shared->round, FUTEX_WAIT, round, NULL,
			NULL, 0);
}

static void move(int fd, char *data, const struct pieces *pieces, int write)
{
	for (size_t i = 0; i < pieces->counts[0]; i++)
		for (size_t j = 0; j < pieces->counts[1]; j++) {
			off_t at = pieces->first +
				   (off_t)i * pieces->strides[0] +
				   (off_t)j * pieces->strides[1];
			ssize_t n =
				write ? pwrite(fd, data, pieces->bytes, at) :
					pread(fd, data, pieces->bytes, at);

			if (n != (ssize_t)pieces->bytes)
				atomic_store(&shared->wrong, 1);
			data += pieces->bytes;
		}
}

/* As in files.c, from the first one's begin to the last one's end. */
static double timed(int fd, char *data, const struct pieces *pieces, int write)
{
	size_t bytes = pieces->counts[0] * pieces->counts[1] * pieces->bytes;
	double begin, end;

	barrier();
	shared->begin[rank] = now_ns();
	move(fd, data, pieces, write);
	shared->end[rank] = now_ns();
	barrier();
	begin = shared->begin[0];
	end = shared->end[0];
	for (int i = 1; i < size; i++) {
		begin = shared->begin[i] < begin ? shared->begin[i] : begin;
		end = shared->end[i] > end ? shared->end[i] : end;
	}
	barrier();
	return (double)bytes * size * 1e3 / (end - begin);
}

static void pattern(const char *name, const struct pieces *pieces)
{
	size_t bytes = pieces->counts[0] * pieces->counts[1] * pieces->bytes;
	char *data = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
	double writes[TIMES], reads[TIMES];
	int fd = open(path, O_RDWR | O_CREAT, 0644);

	if (!data || fd < 0) {
		perror(path);
		exit(1);
	}
	memset(data, rank + 1, bytes);
	timed(fd, data, pieces, 1);
	for (int i = 0; i < times; i++) {
		writes[i] = timed(fd, data, pieces, 1);
		memset(data, 0, bytes);
		reads[i] = timed(fd, data, pieces, 0);
		for (size_t b = 0; b < bytes; b++)
			if (data[b] != (char)(rank + 1))
				atomic_store(&shared->wrong, 1);
	}
	close(fd);
	free(data);
	barrier();
	if (rank)
		return;
	unlink(path);
	printf("%s %.0f %.0f\n", name, median_of(writes, times),
	       median_of(reads, times));
	fflush(stdout);
}

/* The same numbers as MPI_Dims_create() for these sizes: factors of two, the
 * largest first. */
static void dims_find(size_t dims[3])
{
	dims[0] = dims[1] = dims[2] = 1;
	for (int left = size, i = 0; left > 1; left /= 2, i++)
		dims[i % 3] *= 2;
}

static void array(void)
{
	size_t dims[3], part[3], at[3];

	dims_find(dims);
	at[0] = (size_t)rank / (dims[1] * dims[2]);
	at[1] = (size_t)rank / dims[2] % dims[1];
	at[2] = (size_t)rank % dims[2];
	for (int i = 0; i < 3; i++)
		part[i] = SIDE / dims[i];

	size_t row = part[2] * dims[2] * 8, plane = row * part[1] * dims[1];
	struct pieces pieces = {
		.first = (off_t)(at[0] * part[0] * plane +
				 at[1] * part[1] * row + at[2] * part[2] * 8),
		.strides = { (off_t)plane, (off_t)row },
		.counts = { part[0], part[1] },
		.bytes = part[2] * 8,
	};

	/* Contiguous parts are one piece. */
	if (dims[1] == 1 && dims[2] == 1) {
		pieces.bytes *= part[0] * part[1];
		pieces.counts[0] = pieces.counts[1] = 1;
	}
	barrier();
	pattern("array", &pieces);
}

static void blocks(const char *name, size_t bytes, size_t mine)
{
	struct pieces pieces = { .first = (off_t)((size_t)rank * bytes),
				 .strides = { (off_t)(bytes * (size_t)size) },
				 .counts = { mine / bytes, 1 },
				 .bytes = bytes };

	barrier();
	pattern(name, &pieces);
}

static int run(void)
{
	size_t mine = TOTAL / (size_t)size & ~(size_t)1023;

	pattern("segments",
		&(struct pieces){ .first = (off_t)(mine * (size_t)rank),
				  .counts = { 1, 1 },
				  .bytes = mine });
	blocks("blocks-1024", 1024, mine);
	blocks("blocks-64", 64, mine / 8);
	array();
	return atomic_load(&shared->wrong);
}

int main(int argc, char **argv)
{
	int wrong = 0, status;

	if (argc < 3) {
		fprintf(stderr, "usage: raw_files [--quick] RANKS FILE\n");
		return 2;
	}
	for (int i = 1; i < argc - 2; i++)
		if (!strcmp(argv[i], "--quick"))
			times = 3;
	size = atoi(argv[argc - 2]);
	path = argv[argc - 1];
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || size < 1 || size > 256)
		return 2;
	for (; rank < size; rank++)
		if (fork() == 0)
			return run();
	while (wait(&status) > 0)
		wrong |= status;
	if (wrong)
		fprintf(stderr, "raw_files: wrong data\n");
	return wrong != 0;
}
