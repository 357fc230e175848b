/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of more than 2^31 bytes on little memory: the same piece of memory is
 * mapped again and again, and then a last piece that is its own.
 */
#ifndef T_MPI_LARGE_H
#define T_MPI_LARGE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAR_PIECE ((size_t)2 << 20)
#define FAR_PIECES ((size_t)1 << 10)
#define FAR_LAST (FAR_PIECE * FAR_PIECES) /* 2^31: the last piece is there */
#define FAR_BYTES (FAR_LAST + 4096)

/* Bytes of a message that ends in the last piece. */
#define FAR_COUNT ((MPI_Count)(FAR_LAST + 5))

static inline char *far_new(void)
{
	char *far = mmap(NULL, FAR_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int file = memfd_create("far", MFD_CLOEXEC);

	if (far == MAP_FAILED || file < 0 || ftruncate(file, FAR_PIECE) != 0) {
		perror("a large buffer");
		exit(1);
	}
	for (size_t i = 0; i < FAR_PIECES; i++)
		if (mmap(far + i * FAR_PIECE, FAR_PIECE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
			perror("a piece of a large buffer");
			exit(1);
		}
	close(file);
	return far;
}

static inline void far_free(char *far)
{
	munmap(far, FAR_BYTES);
}

static inline char far_byte(size_t i, int seed)
{
	return (char)((i % FAR_PIECE) * 7 / 5 + (size_t)seed + i / FAR_LAST);
}

static inline void far_fill(char *far, int seed)
{
	for (size_t i = 0; i < FAR_PIECE; i++)
		far[i] = far_byte(i, seed);
	for (size_t i = FAR_LAST; i < FAR_BYTES; i++)
		far[i] = far_byte(i, seed);
}

/* A type of FAR_COUNT bytes that lie in FAR_SHORT: 1024 bytes many times, then
 * those after them. */
#define FAR_SHORT (1024 + 5)

static inline MPI_Datatype far_short_type(void)
{
	int lengths[] = { (int)(FAR_LAST / 1024), (int)(FAR_COUNT - FAR_LAST) };
	MPI_Aint places[] = { 0, 1024 };
	MPI_Datatype kib, parts[2] = { MPI_DATATYPE_NULL, MPI_CHAR }, type;

	MPI_Type_contiguous(1024, MPI_CHAR, &kib);
	MPI_Type_create_resized(kib, 0, 0, &parts[0]);
	MPI_Type_create_struct(2, lengths, places, parts, &type);
	MPI_Type_commit(&type);
	MPI_Type_free(&kib);
	MPI_Type_free(&parts[0]);
	return type;
}

/* Tells whether one holds what far_fill() has written. */
static inline int far_short_is(const char *block, int seed)
{
	for (size_t i = 0; i < 1024; i++)
		if (block[i] != far_byte(FAR_PIECE - 1024 + i, seed))
			return 0;
	for (size_t i = 0; i < 5; i++)
		if (block[1024 + i] != far_byte(FAR_LAST + i, seed))
			return 0;
	return 1;
}

#endif
