/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributed arrays (MPI 4.1, 5.1.4).
 */
#include "mpi/type/darray.h"

static const MPI_Count *argument(const struct vm_type_recipe *r, int which)
{
	return r->ints + VM_DARRAY_FIRST + which * r->ints[VM_DARRAY_DIMS];
}
#define GSIZES(r) argument(r, 0)
#define DISTRIBS(r) argument(r, 1)
#define DARGS(r) argument(r, 2)
#define PSIZES(r) argument(r, 3)
#define ORDER(r) (*argument(r, 4))

static int dims(const struct vm_type_recipe *r)
{
	return (int)r->ints[VM_DARRAY_DIMS];
}

/* One dimension: blocks of `block` elements, of which the first of this process
 * begins at `first` and the others follow `round` apart. */
struct share {
	MPI_Count size, block, first, round;
	MPI_Count full;	   /* blocks of this process that are complete */
	MPI_Count partial; /* elements in one that is not */
};

MPI_Count vm_darray_block(MPI_Count size, int distrib, int darg, int processes)
{
	if (distrib == MPI_DISTRIBUTE_NONE)
		return size;
	if (darg != MPI_DISTRIBUTE_DFLT_DARG)
		return darg;
	return distrib == MPI_DISTRIBUTE_CYCLIC ?
		       1 :
		       size / processes + (size % processes != 0);
}

/* The place of the process along dimension i of the grid, row by row. */
static MPI_Count grid_coord(const struct vm_type_recipe *r, int i)
{
	MPI_Count rank = r->ints[VM_DARRAY_RANK];

	for (int j = dims(r) - 1; j > i; j--)
		rank /= PSIZES(r)[j];
	return rank % PSIZES(r)[i];
}

/* Dimension number `order`, 0 being the one that varies fastest. */
static struct share share_of(const struct vm_type_recipe *r, int order)
{
	int n = dims(r);
	int i = ORDER(r) == MPI_ORDER_C ? n - 1 - order : order;
	struct share share = { .size = GSIZES(r)[i] };
	MPI_Count left;

	share.block = vm_darray_block(share.size, (int)DISTRIBS(r)[i],
				      (int)DARGS(r)[i], (int)PSIZES(r)[i]);
	/* The products of a block alone may be larger than any size. */
	if (__builtin_mul_overflow(grid_coord(r, i), share.block,
				   &share.first) ||
	    share.first >= share.size)
		return share;
	if (__builtin_mul_overflow(PSIZES(r)[i], share.block, &share.round))
		share.round = INT64_MAX;
	left = share.size - share.first;
	share.full = left / share.round;
	left %= share.round;
	if (left >= share.block)
		share.full++;
	else
		share.partial = left;
	return share;
}

static MPI_Count share_elements(const struct share *share)
{
	return share->full * share->block + share->partial;
}

/* The place in the whole of the process's element i. */
static MPI_Count share_place(const struct share *share, MPI_Count i)
{
	return share->first + i / share->block * share->round +
	       i % share->block;
}

/* The elements of all dimensions but the fastest. */
static MPI_Count rows(const struct vm_type_recipe *r)
{
	MPI_Count product = 1;

	for (int d = 1; d < dims(r); d++) {
		struct share share = share_of(r, d);

		product *= share_elements(&share);
	}
	return product;
}

MPI_Count vm_darray_elements(const struct vm_type_recipe *r)
{
	struct share share = share_of(r, 0);

	return rows(r) * share_elements(&share);
}

MPI_Count vm_darray_whole(const struct vm_type_recipe *r)
{
	MPI_Count product = 1;

	for (int i = 0; i < dims(r); i++)
		product *= GSIZES(r)[i];
	return product;
}

/* Counts blocks: each row has its complete ones, then the partial one. */
size_t vm_darray_block_count(const struct vm_type_recipe *r)
{
	struct share share = share_of(r, 0);

	return (size_t)rows(r) *
	       ((share.full > 0 ? 1u : 0) + (share.partial > 0 ? 1u : 0));
}

/* Returns where row `row` of the process begins, in elements. */
static MPI_Count row_place(const struct vm_type_recipe *r, MPI_Count row,
			   MPI_Count step)
{
	MPI_Count place = 0;

	for (int d = 1; d < dims(r); d++) {
		struct share share = share_of(r, d);
		MPI_Count n = share_elements(&share);

		place += share_place(&share, row % n) * step;
		row /= n;
		step *= share.size;
	}
	return place;
}

void vm_darray_blocks(const struct vm_type_recipe *r, struct vm_block *b)
{
	struct share share = share_of(r, 0);
	MPI_Count count = share_elements(&share) ? rows(r) : 0;

	for (MPI_Count row = 0; row < count; row++) {
		MPI_Count place = row_place(r, row, share.size) + share.first;

		if (share.full) {
			b->offset = place * b->type->extent;
			b->length = (size_t)share.block;
			b->times = (size_t)share.full;
			b->stride = (vm_wide)share.round * b->type->extent;
			b++;
		}
		if (share.partial) {
			b->offset = (place + share.full * share.round) *
				    b->type->extent;
			b->length = (size_t)share.partial;
			b++;
		}
	}
}
