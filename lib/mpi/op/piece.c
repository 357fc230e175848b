/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of a tree: from left to right each is as large as the alignment of its
 * first rank and the run of ranks in the same process allow.
 */
#include "mpi/op/piece.h"

#include <string.h>

/* Returns the rank after the last one of the piece that begins with rank
 * `begin`. *run: the end of the ranks from there on that are in one process, if
 * it is larger; updated. */
static uint32_t piece_end(const struct vm_leaders *leaders, uint32_t size,
			  uint32_t begin, uint32_t *run)
{
	uint32_t n = 1;

	if (*run <= begin)
		for (*run = begin + 1; *run < size; ++*run)
			if (leaders->of[*run] != leaders->of[begin])
				break;
	/* What lacks at the end of all ranks does not count. */
	while (begin % (2 * n) == 0 && begin + n < size &&
	       (begin + 2 * n < size ? begin + 2 * n : size) <= *run)
		n *= 2;
	return begin + n < size ? begin + n : size;
}

uint32_t vm_coll_pieces_count(const struct vm_leaders *leaders, uint32_t size)
{
	uint32_t count = 0, run = 0;

	for (uint32_t i = 0; i < size; count++)
		i = piece_end(leaders, size, i, &run);
	return count;
}

bool vm_coll_pieces_even(const struct vm_leaders *leaders)
{
	uint32_t each = leaders->processes[0].count;
	int last = leaders->count - 1;

	if (!leaders->blocks || (each & (each - 1)) != 0)
		return false;
	for (int p = 1; p < last; p++)
		if (leaders->processes[p].count != each)
			return false;
	return leaders->processes[last].count <= each;
}

void vm_coll_pieces_fill(struct vm_coll_pieces *pieces, uint32_t *memory,
			 uint32_t count, const struct vm_leaders *leaders,
			 uint32_t size, bool in_turn)
{
	uint32_t begin = 0, run = 0;

	pieces->count = count;
	pieces->ends = memory;
	pieces->process = memory + count;
	pieces->index = memory + 2 * (size_t)count;
	pieces->of = memory + 3 * (size_t)count;
	memset(pieces->of, 0, (size_t)leaders->count * sizeof(*pieces->of));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t p = in_turn ? i : leaders->of[begin];

		begin = in_turn ? i + 1 : piece_end(leaders, size, begin, &run);
		pieces->ends[i] = begin;
		pieces->process[i] = p;
		pieces->index[i] = pieces->of[p]++;
	}
}
