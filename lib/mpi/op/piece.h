/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a tree over ranks (mpi/op/fold.h) is divided among processes: into
 * pieces, the largest subtrees that have all their ranks in one process.  Each
 * process reduces its own pieces, together they combine all of them.
 *
 * With a power of two of neighbouring ranks per process there is one piece in
 * each; with ranks that are dealt out in turn each is a piece of its own.
 */
#ifndef MPI_OP_PIECE_H
#define MPI_OP_PIECE_H

#include "core/meeting/leaders.h"

struct vm_coll_pieces {
	uint32_t count;
	/* By piece: the rank after its last one; its process, and its number
	 * among those of that process. */
	uint32_t *ends, *process, *index;
	uint32_t *of; /* by process: how many it has */
};

/* Returns the number of pieces of `size` ranks. */
uint32_t vm_coll_pieces_count(const struct vm_leaders *leaders, uint32_t size);

/* Tells whether the tree over the pieces is a tree over the processes, each of
 * which has one piece. */
bool vm_coll_pieces_even(const struct vm_leaders *leaders);

/* Fills in `count` pieces, in memory for vm_coll_pieces_words() numbers.
 * in_turn: there is no tree, and each process is one piece. */
void vm_coll_pieces_fill(struct vm_coll_pieces *pieces, uint32_t *memory,
			 uint32_t count, const struct vm_leaders *leaders,
			 uint32_t size, bool in_turn);

static inline size_t vm_coll_pieces_words(uint32_t count, int processes)
{
	return 3 * (size_t)count + (size_t)processes;
}

#endif
