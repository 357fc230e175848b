/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folds: the walk along the tree, and the memory for partial results.
 */
#include "mpi/op/fold.h"

#include <stdlib.h>

#define BLOCK_BYTES 4032
/* User functions often expect all elements in one call. */
#define USER_BLOCK_BYTES ((size_t)1 << 20)

size_t vm_fold_span(const struct vm_type *type, size_t n, ptrdiff_t *low)
{
	ptrdiff_t rest = (ptrdiff_t)(n ? n - 1 : 0) * type->extent;

	*low = type->true_lb + (rest < 0 ? rest : 0);
	return (size_t)(type->true_extent + (rest < 0 ? -rest : rest));
}

void vm_fold_copy_slow(const struct vm_type *type, void *to, const void *from,
		       size_t n)
{
	struct vm_data to_data = vm_type_data(type, to, n);
	struct vm_data from_data = vm_type_data(type, from, n);

	vm_data_copy_slow(&to_data, &from_data);
}

size_t vm_fold_step(const struct vm_op *op, const struct vm_type *type,
		    size_t n)
{
	size_t extent =
		(size_t)(type->extent < 0 ? -type->extent : type->extent);
	size_t bytes = vm_op_is_user(op) ? USER_BLOCK_BYTES : BLOCK_BYTES;
	size_t fit = n;

	/* Saves a division. */
	if (n == 1)
		return 1;
	if ((size_t)type->true_extent > bytes)
		return 1;
	if (extent)
		fit = 1 + (bytes - (size_t)type->true_extent) / extent;
	return fit < n ? fit : n;
}

/* Returns the most results that are kept at a time, the last one too: one per
 * level of the tree above the pairs; in turn, one that is read while the next
 * is written. */
static size_t values(const struct vm_fold *fold)
{
	size_t ranks = fold->ends ? fold->ends[fold->count - 1] : fold->count;
	size_t levels = 1;

	if (fold->in_turn)
		return 2;
	while (levels < fold->count && ranks > (size_t)2 << (levels - 1))
		levels++;
	/* Quarters need three for two levels. */
	return levels + levels / 2;
}

bool vm_fold_open_trees(struct vm_fold *fold, const struct vm_op *op,
			const struct vm_type *type, size_t count,
			const uint32_t *ends, bool in_turn, size_t n)
{
	size_t pointers = (count * sizeof(void *) + 63) & ~(size_t)63, bytes;
	char *memory = fold->stack;
	ptrdiff_t low;

	fold->op = op;
	fold->type = type;
	fold->count = count;
	fold->ends = ends;
	fold->in_turn = in_turn;
	fold->step = vm_fold_step(op, type, n);
	fold->heap = NULL;
	bytes = vm_fold_span(type, fold->step, &low) + (size_t)(low & 63);
	fold->value_gap = (bytes + 63) & ~(size_t)63;
	bytes = pointers + values(fold) * fold->value_gap;
	if (bytes > VM_FOLD_STACK) {
		memory = fold->heap = aligned_alloc(64, bytes);
		if (!memory)
			return false;
	}
	fold->operands = (const void **)(void *)memory;
	/* Elements keep the alignment that they have in a buffer at 0. */
	fold->value = (char *)((uintptr_t)memory + pointers +
			       (uintptr_t)((low & 63) - low));
	return true;
}

bool vm_fold_open(struct vm_fold *fold, const struct vm_op *op,
		  const struct vm_type *type, size_t count, bool in_turn,
		  size_t n)
{
	return vm_fold_open_trees(fold, op, type, count, NULL, in_turn, n);
}

void vm_fold_close(struct vm_fold *fold)
{
	free(fold->heap);
}

/* Computes out = left op right; out may be right. */
static inline void join(const struct vm_fold *fold, const void *left,
			const void *right, void *out, size_t n)
{
	if (fold->op->loops) {
		fold->op->loops[fold->type->kind].two(left, right, out, n);
		return;
	}
	vm_fold_copy(fold->type, out, right, n);
	vm_op_apply(fold->op, fold->type, left, out, n);
}

/* Returns where the right part of a subtree begins, which has operands first to
 * last - 1, at least two: the left part has a power of two of ranks. */
static inline size_t middle(const struct vm_fold *fold, size_t first,
			    size_t last)
{
	const uint32_t *ends = fold->ends;
	size_t begin = first, end = last, half;

	if (ends) {
		begin = first ? ends[first - 1] : 0;
		end = ends[last - 1];
	}
	half = (size_t)1 << (63 - __builtin_clzll(end - begin - 1));
	if (!ends)
		return first + half;
	for (first++; ends[first - 1] < begin + half; first++)
		;
	return first;
}

/* A part of the work: elements, and where the partial results go. */
struct part {
	size_t from, n;
	char *free; /* for the next partial result */
};

static const void *subtree(const struct vm_fold *fold, size_t first,
			   size_t last, char *out, struct part part);

/* A subtree of a power of two of ranks, two levels of it at once. */
static const void *quarters(const struct vm_fold *fold, size_t first,
			    size_t last, char *out, struct part part)
{
	size_t quarter = (last - first) / 4;
	const void *from[4];

	for (size_t i = 0; i < 4; i++, first += quarter) {
		char *place = i < 3 ? part.free : out;

		if (i < 3)
			part.free += fold->value_gap;
		from[i] = subtree(fold, first, first + quarter, place, part);
	}
	fold->op->loops[fold->type->kind].four(from, 0, out, part.n);
	return out;
}

static const void *subtree(const struct vm_fold *fold, size_t first,
			   size_t last, char *out, struct part part)
{
	size_t ranks = last - first;
	const struct vm_type *type = fold->type;
	size_t mid;
	const void *left, *right;

	if (ranks == 4 && !fold->ends && fold->op->loops) {
		fold->op->loops[type->kind].four(
			fold->operands + first,
			(ptrdiff_t)part.from * type->extent, out, part.n);
		return out;
	}
	if (ranks >= 16 && (ranks & (ranks - 1)) == 0 && !fold->ends &&
	    fold->op->loops)
		return quarters(fold, first, last, out, part);
	mid = middle(fold, first, last);
	if (mid - first == 1) {
		left = vm_fold_element(type, fold->operands[first], part.from);
	} else {
		char *place = part.free;

		part.free += fold->value_gap;
		left = subtree(fold, first, mid, place, part);
	}
	if (last - mid == 1)
		right = vm_fold_element(type, fold->operands[mid], part.from);
	else
		right = subtree(fold, mid, last, out, part);
	join(fold, left, right, out, part.n);
	return out;
}

static const void *in_turn(const struct vm_fold *fold, size_t first,
			   size_t last, size_t from, size_t n)
{
	const struct vm_type *type = fold->type;
	const void *sum = vm_fold_element(type, fold->operands[first], from);
	char *out = fold->value, *spare = out + fold->value_gap;

	for (size_t i = first + 1; i < last; i++) {
		char *now = out;

		join(fold, sum, vm_fold_element(type, fold->operands[i], from),
		     now, n);
		sum = now;
		out = spare;
		spare = now;
	}
	return sum;
}

const void *vm_fold_part(const struct vm_fold *fold, size_t first, size_t last,
			 size_t from, size_t n, void *out)
{
	struct part part = { .from = from,
			     .n = n,
			     .free = fold->value + fold->value_gap };

	if (last - first == 1)
		return vm_fold_element(fold->type, fold->operands[first], from);
	if (fold->in_turn)
		return in_turn(fold, first, last, from, n);
	return subtree(fold, first, last, out ? out : fold->value, part);
}
