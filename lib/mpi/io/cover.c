/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bits of bytes with data.
 */
#include "mpi/io/cover.h"

#define ALL UINT64_MAX

/* The bits of a word from one on; and those before one, which may be 64. */
static uint64_t from(size_t bit)
{
	return ALL << bit;
}

static uint64_t before(size_t bit)
{
	return bit < 64 ? ~from(bit) : ALL;
}

void vm_cover_set(uint64_t *bits, size_t first, size_t n)
{
	size_t end = first + n, word = first / 64, last;

	if (!n)
		return;
	last = (end - 1) / 64;
	if (word == last) {
		bits[word] |= from(first % 64) & before(end - word * 64);
		return;
	}
	bits[word++] |= from(first % 64);
	while (word < last)
		bits[word++] = ALL;
	bits[last] |= before(end - last * 64);
}

/* The first bit from `at` on that is not as in the words of `same`. */
static size_t find_other(const uint64_t *bits, size_t at, size_t end,
			 uint64_t same)
{
	size_t word = at / 64;
	uint64_t other;

	if (at >= end)
		return end;
	other = (bits[word] ^ same) & from(at % 64);
	while (!other && (word + 1) * 64 < end)
		other = bits[++word] ^ same;
	if (!other)
		return end;
	at = word * 64 + (size_t)__builtin_ctzll(other);
	return at < end ? at : end;
}

size_t vm_cover_run(const uint64_t *bits, size_t *first, size_t end)
{
	*first = find_other(bits, *first, end, 0);
	return find_other(bits, *first, end, ALL) - *first;
}
