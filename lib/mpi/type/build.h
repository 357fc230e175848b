/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creation of a datatype from its recipe: bounds and flattening.
 *
 * Every constructor is reduced to a list of blocks, so the rules for bounds and
 * runs of bytes are only implemented once, for blocks.
 */
#ifndef MPI_TYPE_BUILD_H
#define MPI_TYPE_BUILD_H

#include "mpi/call/call.h"
#include "mpi/type/recipe.h"

/* A product of two numbers; sums are checked at the end. */
typedef __int128 vm_wide;

/*
 * `times` runs of `length` consecutive elements of type, `stride` bytes apart,
 * the first at `offset`.
 */
struct vm_block {
	const struct vm_type *type;
	size_t length, times;
	vm_wide offset, stride;
};

/* Checks that a whole array of elements of old lies within the address space. */
int vm_check_array(struct vm_call *call, const struct vm_type *old,
		   size_t ndims, const MPI_Count sizes[]);

/*
 * Makes the type, with one handle, of a recipe with checked arguments, which it
 * takes over (also on error).  0, MPI_ERR_NO_MEM, or MPI_ERR_ARG for sizes
 * beyond the address space.
 */
int vm_type_build(struct vm_call *call, struct vm_type **out,
		  struct vm_type_recipe *recipe);

/*
 * Count and fill in the blocks of a recipe (blocks.c).
 */
size_t vm_recipe_block_count(const struct vm_type_recipe *recipe);
void vm_recipe_blocks(const struct vm_type_recipe *recipe,
		      struct vm_block *blocks);

#endif
