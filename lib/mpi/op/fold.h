/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduction of many operands to one, in memory that stays in the cache.
 *
 * The operands of ranks are combined in a balanced tree: those of 0 and 1, of 2
 * and 3, then the pairs, and so on; what is left over at the end joins last.
 * Where the ranks live has no influence, so results have the same bits in one
 * process and in many.  The left operand is always of lower ranks.
 */
#ifndef MPI_OP_FOLD_H
#define MPI_OP_FOLD_H

#include "base/copy.h"
#include "mpi/op/op.h"
#include "mpi/type/type.h"

#define VM_FOLD_STACK 8192

struct vm_fold {
	const struct vm_op *op;
	const struct vm_type *type;
	/* Operand i is that of rank i, or, if ends is set, what the ranks from
	 * ends[i - 1] (the first: 0) to ends[i] - 1 give, a whole subtree. */
	size_t count;
	const uint32_t *ends;
	bool in_turn; /* not in a tree but from left to right */
	size_t step;  /* elements at a time */
	/* Where element 0 of each is; set by the caller. */
	const void **operands;
	char *value;	  /* the result, and partial results after it, */
	size_t value_gap; /* so many bytes apart */
	void *heap;	  /* NULL: all are on the stack */
	_Alignas(64) char stack[VM_FOLD_STACK];
};

/* Prepares a fold of `count` operands of up to n elements; false: no memory.
 * ends must live as long as the fold. */
bool vm_fold_open(struct vm_fold *fold, const struct vm_op *op,
		  const struct vm_type *type, size_t count, bool in_turn,
		  size_t n);
bool vm_fold_open_trees(struct vm_fold *fold, const struct vm_op *op,
			const struct vm_type *type, size_t count,
			const uint32_t *ends, bool in_turn, size_t n);
void vm_fold_close(struct vm_fold *fold);

/*
 * Reduces n elements, at most `step`, from `from` on, of operands first to last
 * - 1, which are a subtree; returns them, an operand itself if there is only
 * one.  They may be stored in `out`, unless it is NULL; it is no part of an
 * operand.
 */
const void *vm_fold_part(const struct vm_fold *fold, size_t first, size_t last,
			 size_t from, size_t n, void *out);

/* Returns how many of n elements a fold reduces at a time. */
size_t vm_fold_step(const struct vm_op *op, const struct vm_type *type,
		    size_t n);

/* Returns how many bytes n elements span; *low is the offset of the first. */
size_t vm_fold_span(const struct vm_type *type, size_t n, ptrdiff_t *low);

/* Copies n elements; others may be writing the same bytes to the
 * destination. */
void vm_fold_copy_slow(const struct vm_type *type, void *to, const void *from,
		       size_t n);
static inline void vm_fold_copy(const struct vm_type *type, void *to,
				const void *from, size_t n)
{
	if (to == from)
		return;
	if (VM_LIKELY(type->dense))
		vm_copy((char *)to + type->dense_offset,
			(const char *)from + type->dense_offset,
			n * type->size);
	else
		vm_fold_copy_slow(type, to, from, n);
}

/* Returns the address of element i of a buffer. */
static inline void *vm_fold_element(const struct vm_type *type, const void *buf,
				    size_t i)
{
	return (void *)((uintptr_t)buf +
			(uintptr_t)((ptrdiff_t)i * type->extent));
}

#endif
