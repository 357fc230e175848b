/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bins for sizes of messages: two for each power of two.
 *
 * Bin 0 has what is at most 64 bytes; then come 96, 128, 192, 256 and so on to
 * 32 MiB.  The last bin has all that is longer.  Every counter of sizes is an
 * array of VM_SIZE_BINS words, one per bin.
 */
#ifndef INTROSPECT_VARS_SIZES_H
#define INTROSPECT_VARS_SIZES_H

#include <stddef.h>
#include <stdint.h>

#define VM_SIZE_BINS 40
#define VM_SIZE_BIN_FIRST 64

/* The largest size of a bin; UINT64_MAX of the last one. */
static inline uint64_t vm_size_bound(unsigned bin)
{
	uint64_t power = (uint64_t)VM_SIZE_BIN_FIRST << bin / 2;

	if (bin >= VM_SIZE_BINS - 1)
		return UINT64_MAX;
	return bin % 2 ? power + power / 2 : power;
}

/* The bin of a size, in a few instructions: messages are counted by it as they
 * are sent. */
static inline unsigned vm_size_bin(uint64_t bytes)
{
	unsigned octave, bin;

	if (bytes <= VM_SIZE_BIN_FIRST)
		return 0;
	/* 2^octave < bytes <= 2^(octave + 1) */
	octave = 63 - (unsigned)__builtin_clzll(bytes - 1);
	bin = (octave - 6) * 2 + 1 +
	      (unsigned)((bytes - 1) >> (octave - 1) & 1);
	return bin < VM_SIZE_BINS - 1 ? bin : VM_SIZE_BINS - 1;
}

#endif
