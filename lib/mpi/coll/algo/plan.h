/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choice of the algorithm of internode collectives.
 *
 * Every leader plans from its own members' calls and the control variables, and
 * sends its plan along with the calls.  So all know all plans before large data
 * moves, and either use the same algorithm or report that they do not.
 */
#ifndef MPI_COLL_ALGO_PLAN_H
#define MPI_COLL_ALGO_PLAN_H

#include "mpi/coll/coll.h"

/* X(name, word): the word in the control variables and in the names of counters
 * (coll_WORD_internode). */
#define VM_COLL_ALGORITHMS(X)                     \
	X(LINEAR, linear)                         \
	X(ORDERED, ordered)                       \
	X(BINOMIAL, binomial)                     \
	X(SCATTER_ALLGATHER, scatter_allgather)   \
	X(RING, ring)                             \
	X(PAIRWISE, pairwise)                     \
	X(RECURSIVE_DOUBLING, recursive_doubling) \
	X(REDUCE_SCATTER, reduce_scatter)         \
	X(CHAIN, chain)

enum vm_coll_algorithm {
	VM_ALGORITHM_AUTO,
#define VM_COLL_ALGORITHM_ENUM_(name, word) VM_ALGORITHM_##name,
	VM_COLL_ALGORITHMS(VM_COLL_ALGORITHM_ENUM_)
#undef VM_COLL_ALGORITHM_ENUM_
		VM_COLL_ALGORITHMS
};

/* The plan of one process, sent to the others. */
struct vm_coll_plan {
	uint32_t asked;	    /* what the control variable says */
	uint32_t algorithm; /* what is used */
	uint32_t packs;	    /* whether data goes along with the calls */
	uint32_t in_turn;   /* whether mpi_coll_reduce_order is rank */
};

const char *vm_coll_algorithm_name(uint32_t algorithm);

/* Counts a collective that uses an algorithm. */
void vm_coll_count(uint32_t algorithm);

/* Returns the plan of this process, made by its leader from its members'
 * calls. */
struct vm_coll_plan vm_coll_plan(const struct vm_meet *meet);

/*
 * Whether a call of which every process has so few bytes is left to the cards
 * that leaders exchange first (small.h): the settings do not ask for another
 * algorithm, or another order of operands.
 */
bool vm_coll_plan_is_small(const struct vm_coll *any, size_t *most_bytes);

/* Tells whether each process reduces the operands of its own members first. */
static inline bool vm_coll_is_node_reduce(const struct vm_coll_plan *plan,
					  const struct vm_coll *any)
{
	return any->kind->reduces && plan->algorithm != VM_ALGORITHM_ORDERED;
}

/*
 * Returns how many elements of an ordered reduction's operands are sent to
 * other processes at a time; 0: all at once.
 */
size_t vm_coll_slice(const struct vm_coll *coll);

#endif
