/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversion of each constructor's arguments to blocks: one small function per
 * combiner, in a table.
 */
#include "base/err.h"
#include "mpi/type/build.h"
#include "mpi/type/darray.h"

static void contiguous(const struct vm_type_recipe *r, struct vm_block *b)
{
	b->length = (size_t)r->ints[0];
}

static void vector(const struct vm_type_recipe *r, struct vm_block *b)
{
	b->times = (size_t)r->ints[0];
	b->length = (size_t)r->ints[1];
	b->stride = (vm_wide)r->ints[2] * b->type->extent;
}

static void hvector(const struct vm_type_recipe *r, struct vm_block *b)
{
	b->times = (size_t)r->ints[0];
	b->length = (size_t)r->ints[1];
	b->stride = r->aints[0];
}

static void indexed(const struct vm_type_recipe *r, struct vm_block *b)
{
	for (MPI_Count i = 0; i < r->ints[0]; i++, b++) {
		b->length = (size_t)r->ints[1 + i];
		b->offset =
			(vm_wide)r->ints[1 + r->ints[0] + i] * b->type->extent;
	}
}

static void hindexed(const struct vm_type_recipe *r, struct vm_block *b)
{
	for (MPI_Count i = 0; i < r->ints[0]; i++, b++) {
		b->length = (size_t)r->ints[1 + i];
		b->offset = r->aints[i];
	}
}

static void indexed_block(const struct vm_type_recipe *r, struct vm_block *b)
{
	for (MPI_Count i = 0; i < r->ints[0]; i++, b++) {
		b->length = (size_t)r->ints[1];
		b->offset = (vm_wide)r->ints[2 + i] * b->type->extent;
	}
}

static void hindexed_block(const struct vm_type_recipe *r, struct vm_block *b)
{
	for (MPI_Count i = 0; i < r->ints[0]; i++, b++) {
		b->length = (size_t)r->ints[1];
		b->offset = r->aints[i];
	}
}

static void structure(const struct vm_type_recipe *r, struct vm_block *b)
{
	for (MPI_Count i = 0; i < r->ints[0]; i++, b++) {
		b->type = r->types[i];
		b->length = (size_t)r->ints[1 + i];
		b->offset = r->aints[i];
	}
}

/* Dimension `rank` of a subarray, 0 being the one that varies fastest. */
struct dimension {
	MPI_Count size, subsize, start;
};

static struct dimension dimension(const struct vm_type_recipe *r,
				  MPI_Count rank)
{
	MPI_Count n = r->ints[0];
	MPI_Count i = r->ints[1 + 3 * n] == MPI_ORDER_C ? n - 1 - rank : rank;

	return (struct dimension){ r->ints[1 + i], r->ints[1 + n + i],
				   r->ints[1 + 2 * n + i] };
}

/* One block per plane: the rows of the two fastest dimensions. */
static void subarray(const struct vm_type_recipe *r, struct vm_block *b)
{
	size_t planes = vm_recipe_block_count(r);
	struct dimension row = dimension(r, 0);
	ptrdiff_t extent = b->type->extent;

	for (size_t plane = 0; plane < planes; plane++, b++) {
		ptrdiff_t step = row.size * extent;
		size_t index = plane;

		b->length = (size_t)row.subsize;
		b->offset = row.start * extent;
		for (int i = 1; i < r->ints[0]; i++) {
			struct dimension d = dimension(r, i);

			b->offset += d.start * step;
			if (i == 1) {
				b->times = (size_t)d.subsize;
				b->stride = step;
			} else {
				b->offset +=
					(ptrdiff_t)(index % (size_t)d.subsize) *
					step;
				index /= (size_t)d.subsize;
			}
			step *= d.size;
		}
	}
}

static void whole(const struct vm_type_recipe *r, struct vm_block *b)
{
}

static const struct {
	int combiner;
	void (*fill)(const struct vm_type_recipe *r, struct vm_block *b);
} constructors[] = {
	{ MPI_COMBINER_DUP, whole },
	{ MPI_COMBINER_CONTIGUOUS, contiguous },
	{ MPI_COMBINER_VECTOR, vector },
	{ MPI_COMBINER_HVECTOR, hvector },
	{ MPI_COMBINER_INDEXED, indexed },
	{ MPI_COMBINER_HINDEXED, hindexed },
	{ MPI_COMBINER_INDEXED_BLOCK, indexed_block },
	{ MPI_COMBINER_HINDEXED_BLOCK, hindexed_block },
	{ MPI_COMBINER_STRUCT, structure },
	{ MPI_COMBINER_SUBARRAY, subarray },
	{ MPI_COMBINER_DARRAY, vm_darray_blocks },
	{ MPI_COMBINER_RESIZED, whole },
};

size_t vm_recipe_block_count(const struct vm_type_recipe *r)
{
	size_t planes = 1;

	switch (r->combiner) {
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
	case MPI_COMBINER_STRUCT:
		return (size_t)r->ints[0];
	case MPI_COMBINER_SUBARRAY:
		for (int i = 2; i < r->ints[0]; i++)
			planes *= (size_t)dimension(r, i).subsize;
		return planes;
	case MPI_COMBINER_DARRAY:
		return vm_darray_block_count(r);
	default:
		return 1;
	}
}

void vm_recipe_blocks(const struct vm_type_recipe *recipe,
		      struct vm_block *blocks)
{
	size_t n = vm_recipe_block_count(recipe);

	for (size_t i = 0; i < n; i++)
		blocks[i] = (struct vm_block){ .type = recipe->types[0],
					       .length = 1,
					       .times = 1 };
	for (size_t i = 0; i < sizeof(constructors) / sizeof(constructors[0]);
	     i++) {
		if (constructors[i].combiner == recipe->combiner) {
			constructors[i].fill(recipe, blocks);
			return;
		}
	}
	vm_panic("datatype: no constructor for combiner %d", recipe->combiner);
}
