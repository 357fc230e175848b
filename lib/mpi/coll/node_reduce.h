/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hierarchical reductions: the leader of each process reduces the operands of
 * its members to one vector, the leaders combine these, and each copies the
 * results to its members.
 */
#ifndef MPI_COLL_NODE_REDUCE_H
#define MPI_COLL_NODE_REDUCE_H

#include "mpi/coll/hier.h"

struct vm_coll_node_reduce {
	struct vm_coll_view *view;
	struct vm_coll *me; /* whose operation it is */
	const struct vm_op *op;
	const struct vm_type *type;
	size_t count;	/* elements of a vector */
	size_t *begins; /* of each process's share of them, and the end */
	void *sum;	/* what is reduced so far */
	void *other;	/* a vector to receive */
	void *before;	/* of a scan: one for the prefix */
	bool prefix;	/* of a scan: sum is that of the processes before */
	struct vm_meet local; /* of the local members, after one more seat */
};

/* Reduces the operands of the local members; NULL when out of memory. */
struct vm_coll_node_reduce *vm_coll_node_reduce_open(struct vm_coll_view *view);
void vm_coll_node_reduce_close(struct vm_coll_node_reduce *reduce);

/* The whole vector, and whether it is sent to a process along with the
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

/* Computes right = left op right for n elements. */
void vm_coll_combine(const struct vm_coll_node_reduce *reduce, const void *left,
		     void *right, size_t n);

/* Stores in sum what the local members need: all of the result, their process's
 * share, or the prefix.  0 or an error.  May switch (combine.c). */
int vm_coll_node_reduce_combine(struct vm_coll_node_reduce *reduce);

#endif
