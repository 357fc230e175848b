/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a test's message: each number has its own pattern, in which each
 * place has its own byte, so that a byte of another message or place is seen.
 */
#ifndef T_PATTERN_H
#define T_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline unsigned char pattern(uint64_t number, size_t at)
{
	return (unsigned char)(number * 131 + at * 7 + (at >> 8));
}

static inline void pattern_fill(void *data, uint64_t number, size_t bytes)
{
	unsigned char *to = data;

	for (size_t i = 0; i < bytes; i++)
		to[i] = pattern(number, i);
}

static inline bool pattern_fits(const void *data, uint64_t number, size_t bytes)
{
	const unsigned char *from = data;

	for (size_t i = 0; i < bytes; i++)
		if (from[i] != pattern(number, i))
			return false;
	return true;
}

#endif
