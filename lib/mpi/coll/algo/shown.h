/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What members show others of a short call: a key of the arguments on which all
 * must agree, and the bytes of each member that sends.
 */
#ifndef MPI_COLL_ALGO_SHOWN_H
#define MPI_COLL_ALGO_SHOWN_H

#include "mpi/coll/coll.h"
#include "mpi/coll/key.h"

/* The members of a worker, or of a process. */
struct vm_coll_team {
	const uint32_t *members;
	uint32_t count;
};

/* Consecutive blocks. */
struct vm_coll_span {
	size_t first, count;
};

/* What members show others: so many bytes of each that sends. */
struct vm_coll_shown {
	struct vm_coll_team team;
	struct vm_coll_span span; /* of the blocks of each */
	uint32_t bytes;
	char *data;
	size_t room, used;
	bool even; /* the one block of a scatterv, without its size */
};

/* Tells whether a member sends a block to each of the others, not one to
 * all. */
static inline bool vm_coll_sends_blocks(const struct vm_coll *coll)
{
	return coll->kind == &vm_coll_scatter ||
	       coll->kind == &vm_coll_alltoall;
}

/* Those of n blocks that a team shows: not its own, if these are the first or
 * the last ones. */
struct vm_coll_span vm_coll_span_of(const struct vm_coll_team *team, size_t n);

/* The bytes before blocks of any size: what each has, and where it begins. */
static inline size_t vm_coll_uneven_head(size_t n)
{
	return 2 * n * sizeof(int);
}

/* Shows what the members of shown->team send, and which call it is; false: it
 * is not small, or they disagree. */
bool vm_coll_show(const struct vm_meet *meet, struct vm_coll_shown *shown,
		  uint64_t key[VM_MEET_KEY_WORDS]);

/* The same of the blocks of shown->span only. */
bool vm_coll_show_span(const struct vm_meet *meet, struct vm_coll_shown *shown,
		       uint64_t key[VM_MEET_KEY_WORDS]);

#endif
