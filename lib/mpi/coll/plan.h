/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithm by which the data of a collective goes among processes.
 *
 * Every leader plans from what its own members bring and from the control
 * variables, and tells its plan along with the calls.  So all know the plans of
 * all before any data moves that is not small, and either use the same algorithm
 * or know that they do not.
 */
#ifndef MPI_COLL_PLAN_H
#define MPI_COLL_PLAN_H

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
	X(REDUCE_SCATTER, reduce_scatter)

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
	uint64_t packs;	    /* whether data goes along with the calls */
};

const char *vm_coll_algorithm_name(uint32_t algorithm);

/* Counts a collective that uses the algorithm. */
void vm_coll_count(uint32_t algorithm);

/* The plan of this process, made by its leader from the calls of its members. */
struct vm_coll_plan vm_coll_plan(const struct vm_meet *meet);

/* Whether it is a reduction of which each process reduces a part. */
static inline bool vm_coll_is_node_reduce(const struct vm_coll_plan *plan,
					  const struct vm_coll *any)
{
	return any->kind->reduces && plan->algorithm != VM_ALGORITHM_ORDERED;
}

/*
 * The elements of an ordered reduction whose operands go to other processes at a
 * time; 0: all at once.
 */
size_t vm_coll_slice(const struct vm_coll *coll);

#endif
