/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounds and runs of a new datatype.
 *
 * Bounds follow MPI 4.1, 5.1.6 to 5.1.8: bounds set explicitly in a part
 * (resized, subarray, MPI_LB, MPI_UB) override those of all other parts; without
 * any the upper bound is rounded up so that the extent keeps the parts aligned,
 * whatever the constructor, as in Open MPI (MPICH pads structures only).  Sums
 * are computed in 128 bits and checked at the end.
 */
#include "mpi/type/build.h"

#include <stdlib.h>

#include "mpi/type/darray.h"

/* The least and the greatest of what was added. */
struct range {
	vm_wide low, high;
	bool low_set, high_set; /* by the user */
	bool low_any, high_any;
};

static void range_low(struct range *range, vm_wide low, bool set)
{
	if (set < range->low_set)
		return;
	if (!range->low_any || set > range->low_set || low < range->low)
		range->low = low;
	range->low_set = set;
	range->low_any = true;
}

static void range_high(struct range *range, vm_wide high, bool set)
{
	if (set < range->high_set)
		return;
	if (!range->high_any || set > range->high_set || high > range->high)
		range->high = high;
	range->high_set = set;
	range->high_any = true;
}

/* Totals over all blocks. */
struct sums {
	struct range bounds, true_bounds;
	vm_wide size, elements;
	uint32_t align;
	const struct vm_type *basic;
	bool mixed; /* of several predefined types */
	bool large; /* one block alone is too large */
};

/* Tells whether value is one that an address difference can have. */
static bool fits(vm_wide value)
{
	return value <= PTRDIFF_MAX && value >= PTRDIFF_MIN;
}

static void sums_add(struct sums *sums, const struct vm_block *block)
{
	const struct vm_type *type = block->type;
	vm_wide n = (vm_wide)block->length * (vm_wide)block->times;
	vm_wide low = block->offset, high = low;
	vm_wide along, across;

	if (!n || (!type->size && !type->lb_set && !type->ub_set))
		return;
	if (!fits(n) || !fits(n * (vm_wide)type->size) || !fits(low) ||
	    (block->times > 1 && !fits(block->stride))) {
		sums->large = true;
		return;
	}
	along = (vm_wide)(block->length - 1) * type->extent;
	across = (vm_wide)(block->times - 1) * block->stride;
	low += (along < 0 ? along : 0) + (across < 0 ? across : 0);
	high += (along > 0 ? along : 0) + (across > 0 ? across : 0);
	/* A part that only marks a bound says nothing about the other one. */
	if (type->size || type->lb_set)
		range_low(&sums->bounds, low + type->lb, type->lb_set);
	/* With the padding of the part, so that a part that is another type of
	 * the program's lies within the whole, as in Open MPI and MPICH. */
	if (type->size || type->ub_set)
		range_high(&sums->bounds, high + type->lb + type->extent,
			   type->ub_set);
	if (type->align > sums->align)
		sums->align = type->align;
	if (!type->size)
		return;
	range_low(&sums->true_bounds, low + type->true_lb, false);
	range_high(&sums->true_bounds, high + type->true_lb + type->true_extent,
		   false);
	sums->size += n * (vm_wide)type->size;
	sums->elements += n * type->elements;
	sums->mixed |= !type->basic ||
		       (sums->basic && sums->basic != type->basic);
	sums->basic = type->basic;
}

static bool sums_fit(const struct sums *sums)
{
	return !sums->large && fits(sums->bounds.low) &&
	       fits(sums->bounds.high) &&
	       fits(sums->bounds.high - sums->bounds.low) &&
	       fits(sums->true_bounds.low) && fits(sums->true_bounds.high) &&
	       fits(sums->size) && fits(sums->elements);
}

/* Sets all of type but its layout. */
static void type_fill(struct vm_type *type, const struct sums *sums)
{
	const struct vm_type_recipe *recipe = type->recipe;
	const struct range *bounds = &sums->bounds;
	vm_wide extent = bounds->high - bounds->low;

	type->lb = (MPI_Count)bounds->low;
	type->lb_set = bounds->low_set;
	type->ub_set = bounds->high_set;
	type->align = sums->align;
	if (!type->ub_set && sums->align && extent % sums->align)
		extent += sums->align - extent % sums->align;
	type->extent = (MPI_Count)extent;
	type->true_lb = (MPI_Count)sums->true_bounds.low;
	type->true_extent =
		(MPI_Count)(sums->true_bounds.high - sums->true_bounds.low);
	type->size = (size_t)sums->size;
	type->elements = (MPI_Count)sums->elements;
	type->basic = sums->mixed ? NULL : sums->basic;
	if (recipe->combiner == MPI_COMBINER_RESIZED) {
		type->lb = recipe->aints[0];
		type->extent = recipe->aints[1];
		type->lb_set = type->ub_set = true;
	} else if (recipe->combiner == MPI_COMBINER_SUBARRAY) {
		type->lb = 0;
		type->extent = recipe->types[0]->extent;
		for (MPI_Count i = 0; i < recipe->ints[0]; i++)
			type->extent *= recipe->ints[1 + i];
		type->lb_set = type->ub_set = true;
	} else if (recipe->combiner == MPI_COMBINER_DARRAY) {
		type->lb = 0;
		type->extent =
			vm_darray_whole(recipe) * recipe->types[0]->extent;
		type->lb_set = type->ub_set = true;
	}
}

/* Elements of the block's layout, if they are evenly spaced; else 0. */
static size_t even_elements(const struct vm_block *block)
{
	const struct vm_type *type = block->type;

	if (block->times > 1 &&
	    block->stride != (vm_wide)block->length * type->extent)
		return 0;
	return block->times * block->length;
}

/*
 * Tells whether elements of an old layout in a row are the new type: a
 * contiguous or duplicated type shares the layout of the old one.
 */
static bool layout_share(struct vm_type *type, const struct vm_block *block)
{
	size_t n = even_elements(block);

	if (block->type->dense || !n || block->offset ||
	    type->extent != (MPI_Count)n * block->type->extent)
		return false;
	type->layout = vm_layout_hold(block->type->layout);
	type->repeat = n * block->type->repeat;
	type->solid = n == 1 && block->type->solid;
	type->dense_offset = block->type->dense_offset;
	return true;
}

/* Runs that a block needs before neighbours are merged. */
static vm_wide block_run_count(const struct vm_block *block)
{
	const struct vm_type *type = block->type;

	if (!type->size || !block->length || !block->times)
		return 0;
	if (type->dense || (type->solid && block->length == 1))
		return 1;
	if (type->solid)
		return even_elements(block) ? 1 : (vm_wide)block->times;
	return (vm_wide)block->times * block->length * type->repeat *
	       type->layout->run_count;
}

/* The runs of one element of a type that is not solid. */
static struct vm_run *element_runs(struct vm_run *run,
				   const struct vm_type *type, ptrdiff_t offset)
{
	const struct vm_layout *layout = type->layout;

	for (size_t e = 0; e < type->repeat; e++) {
		for (size_t r = 0; r < layout->run_count; r++, run++) {
			*run = layout->runs[r];
			run->offset += offset;
		}
		offset += layout->extent;
	}
	return run;
}

/* Writes as many runs as block_run_count() says; returns the end. */
static struct vm_run *block_runs(struct vm_run *run,
				 const struct vm_block *block)
{
	const struct vm_type *type = block->type;
	size_t times = block->times, length = block->length;
	ptrdiff_t first, stride, offset;

	if (!block_run_count(block))
		return run;
	/* They have been found to fit. */
	first = (ptrdiff_t)block->offset;
	stride = (ptrdiff_t)block->stride;
	offset = first + type->dense_offset;
	if (type->dense || (type->solid && length == 1)) {
		*run++ = (struct vm_run){ offset, length * type->size, times,
					  stride };
		return run;
	}
	if (type->solid) {
		size_t even = even_elements(block);

		if (even) {
			length = even;
			times = 1;
		}
		for (size_t i = 0; i < times; i++, offset += stride)
			*run++ = (struct vm_run){ offset, type->size, length,
						  type->extent };
		return run;
	}
	for (size_t i = 0; i < times; i++)
		for (size_t j = 0; j < length; j++)
			run = element_runs(run, type,
					   first + (ptrdiff_t)i * stride +
						   (ptrdiff_t)j * type->extent);
	return run;
}

/* Flattens the blocks: false when out of memory. */
static bool layout_make(struct vm_type *type, const struct vm_block *blocks,
			size_t n)
{
	struct vm_layout *layout;
	struct vm_run *run;
	vm_wide runs = 0;

	for (size_t i = 0; i < n; i++) {
		runs += block_run_count(&blocks[i]);
		if (runs > INT64_MAX)
			return false;
	}
	layout = vm_layout_new((size_t)runs);
	if (!layout)
		return false;
	run = layout->runs;
	for (size_t i = 0; i < n; i++)
		run = block_runs(run, &blocks[i]);
	vm_layout_seal(layout, type->extent);
	type->repeat = 1;
	type->dense = vm_layout_dense(layout, &type->dense_offset);
	type->solid = type->dense ||
		      (layout->run_count == 1 && layout->runs[0].count == 1);
	if (type->solid && layout->run_count)
		type->dense_offset = layout->runs[0].offset;
	if (type->dense)
		vm_layout_drop(layout);
	else
		type->layout = layout;
	return true;
}

/* The type of n blocks; its recipe is set. */
static int type_make(struct vm_call *call, struct vm_type *type,
		     const struct vm_block *blocks, size_t n)
{
	struct sums sums = { 0 };

	for (size_t i = 0; i < n; i++)
		sums_add(&sums, &blocks[i]);
	if (!sums_fit(&sums))
		return vm_error(call, MPI_ERR_ARG,
				"the datatype would be larger than the address "
				"space");
	type_fill(type, &sums);
	if (n == 1 && layout_share(type, &blocks[0]))
		return 0;
	if (!layout_make(type, blocks, n))
		return vm_error(call, MPI_ERR_NO_MEM,
				"no memory for the blocks of the datatype");
	return 0;
}

int vm_type_build(struct vm_call *call, struct vm_type **out,
		  struct vm_type_recipe *recipe)
{
	size_t n = vm_recipe_block_count(recipe);
	struct vm_block *blocks = calloc(n ? n : 1, sizeof(*blocks));
	struct vm_type *type =
		vm_object_new(call->mpi, VM_OBJECT_TYPE, sizeof(*type));
	int rc;

	if (!blocks || !type) {
		rc = vm_error(call, MPI_ERR_NO_MEM, "no memory for a datatype");
		goto free_blocks;
	}
	type->mpi = call->mpi;
	type->recipe = recipe;
	atomic_init(&type->handles, 1);
	vm_recipe_blocks(recipe, blocks);
	rc = type_make(call, type, blocks, n);
	if (rc == 0)
		*out = type;
	else
		vm_object_free(call->mpi, VM_OBJECT_TYPE, type);
free_blocks:
	free(blocks);
	if (rc != 0)
		vm_recipe_free(recipe);
	return rc;
}
