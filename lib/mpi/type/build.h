/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making a datatype from its recipe: bounds and flattening.
 *
 * Every constructor comes down to a list of blocks; the rules for bounds and
 * for runs of bytes are written once, for blocks.
 */
#ifndef MPI_TYPE_BUILD_H
#define MPI_TYPE_BUILD_H

#include "mpi/call/call.h"
#include "mpi/type/recipe.h"

/*
 * `times` times, `stride` bytes apart, the first at `offset`: `length` elements
 * of type behind each other.
 */
struct vm_block {
	const struct vm_type *type;
	size_t length, times;
	ptrdiff_t offset, stride;
};

/*
 * The type of a recipe whose arguments have been checked; it takes the recipe
 * over, on error too.  0, MPI_ERR_NO_MEM, or MPI_ERR_ARG for sizes that no
 * address space holds.  The user has one handle.
 */
int vm_type_build(struct vm_call *call, struct vm_type **out,
		  struct vm_type_recipe *recipe);

/*
 * The blocks of a recipe (blocks.c): how many there are, and filling them
 * in.
 */
size_t vm_recipe_block_count(const struct vm_type_recipe *recipe);
void vm_recipe_blocks(const struct vm_type_recipe *recipe,
		      struct vm_block *blocks);

#endif
