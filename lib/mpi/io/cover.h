/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which bytes of a buffer have data: a bit each.
 */
#ifndef MPI_IO_COVER_H
#define MPI_IO_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the words that the bits of so many bytes take. */
static inline size_t vm_cover_words(size_t bytes)
{
	return (bytes + 63) / 64;
}

/* Sets the bits of n bytes from `first` on. */
void vm_cover_set(uint64_t *bits, size_t first, size_t n);

/* Finds the next bytes with data from *first on, before `end`, and moves *first
 * there; returns how many follow each other, 0: none. */
size_t vm_cover_run(const uint64_t *bits, size_t *first, size_t end);

#endif
