/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hierarchical reductions: the leader of each process reduces the operands of
 * its members to one vector per piece of the tree, the leaders combine these,
 * and each copies the results to its members.
 */
#ifndef MPI_COLL_ALGO_NODE_REDUCE_H
#define MPI_COLL_ALGO_NODE_REDUCE_H

#include "mpi/coll/algo/hier.h"
#include "mpi/op/piece.h"
#include "mpi/op/fold.h"

struct vm_coll_node_reduce {
	struct vm_coll_view *view;
	struct vm_coll *me; /* whose operation it is */
	const struct vm_op *op;
	const struct vm_type *type;
	size_t count;	/* elements of a vector */
	size_t *begins; /* of each process's share of them, and the end */
	struct vm_coll_pieces pieces;
	uint32_t own; /* how many pieces this process has */
	void *sum;    /* its vectors, one after the other; later the result */
	void *other;  /* a vector to receive, */
	size_t room;  /* of so many elements */
	/* If vectors of other processes are kept, or added, where they are
	 * received: by process, NULL: none comes from there.  And where the sum
	 * belongs. */
	void **rooms, *result;
	void *spare; /* a vector for when sum, a member's own, is not to change */
	void *before; /* of a scan: one for the prefix */
	bool lent;    /* sum is, or was, the operand of the only member */
	bool prefix;  /* of a scan: `before` is of the processes before */
	_Atomic bool no_memory;
	struct vm_meet local; /* of the local members, after one more seat */
};

/* Reduces the operands of the local members; NULL when out of memory. */
struct vm_coll_node_reduce *vm_coll_node_reduce_open(struct vm_coll_view *view);
void vm_coll_node_reduce_close(struct vm_coll_node_reduce *reduce);

/* All vectors, and whether they are sent to a process along with the
 * calls. */
struct vm_data
vm_coll_node_reduce_data(const struct vm_coll_node_reduce *reduce);
bool vm_coll_node_reduce_wanted(const struct vm_coll_view *view, int process);

/* Combines the vectors and copies the results to the members: 0 or an error.
 * May switch. */
int vm_coll_node_reduce_do(struct vm_coll_view *view);

/* Returns the address of element `first` of a vector. */
static inline void *vm_coll_element(const struct vm_coll_node_reduce *reduce,
				    const void *vector, size_t first)
{
	return vm_at(vector, (ptrdiff_t)first * reduce->type->extent);
}

/* Reduces n elements, `from` on, of what the members of lower processes give, in
 * `before`, and the operands of the local members to sum.  False: no memory. */
bool vm_coll_node_reduce_chain(struct vm_coll_node_reduce *reduce, size_t from,
			       size_t n);

/* Computes right = left op right for n elements. */
void vm_coll_combine(const struct vm_coll_node_reduce *reduce, const void *left,
		     void *right, size_t n);

/* The processes from which this one receives vectors, in the order in which it
 * adds them: how many (combine.c). */
int vm_coll_node_reduce_givers(const struct vm_coll_node_reduce *reduce,
			       int *givers);

/* Whether all vectors go to one process, which combines them. */
static inline bool
vm_coll_node_reduce_is_flat(const struct vm_coll_node_reduce *reduce)
{
	return reduce->view->plan.algorithm == VM_ALGORITHM_LINEAR &&
	       !reduce->view->plan.packs;
}

/* Whether each process combines its share of the vectors. */
static inline bool
vm_coll_node_reduce_is_shared(const struct vm_coll_node_reduce *reduce)
{
	return reduce->view->plan.algorithm == VM_ALGORITHM_REDUCE_SCATTER ||
	       reduce->view->plan.algorithm == VM_ALGORITHM_PAIRWISE;
}

/* The same of vectors that are posted (posted.c); what `talk` has to wait for is its
 * own. */
struct vm_leaders_data;
int vm_coll_node_reduce_posted(struct vm_coll_node_reduce *reduce,
			       struct vm_leaders_data *talk);

/* Opens a fold of the first `count` pieces of vectors of n elements, and stores in
 * `to` n elements of it, `from` on. */
bool vm_coll_pieces_open(struct vm_fold *fold,
			 const struct vm_coll_node_reduce *reduce, size_t count,
			 size_t n);
void vm_coll_pieces_fold(const struct vm_coll_node_reduce *reduce,
			 const struct vm_fold *fold, size_t count, size_t from,
			 size_t n, void *to);

/* Stores in sum what the local members need: all of the result, their process's
 * share, or the prefix.  0 or an error.  May switch (combine.c). */
int vm_coll_node_reduce_combine(struct vm_coll_node_reduce *reduce);

#endif
