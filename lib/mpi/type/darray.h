/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributed arrays: the part of an array that one process of a grid owns.
 *
 * Block and no distribution are treated as cyclic with a single round, so there
 * is one rule: in each dimension blocks are dealt to the processes in turn.
 */
#ifndef MPI_TYPE_DARRAY_H
#define MPI_TYPE_DARRAY_H

#include "mpi/type/build.h"

/* Where the arguments lie in the integers of a recipe of n dimensions. */
enum { VM_DARRAY_SIZE, VM_DARRAY_RANK, VM_DARRAY_DIMS, VM_DARRAY_FIRST };

/* Returns the size of a block along a dimension. */
MPI_Count vm_darray_block(MPI_Count size, int distrib, int darg, int processes);

/* vm_recipe_block_count() and vm_recipe_blocks() for this combiner. */
size_t vm_darray_block_count(const struct vm_type_recipe *recipe);
void vm_darray_blocks(const struct vm_type_recipe *recipe,
		      struct vm_block *blocks);

/* Returns the number of elements that the process owns. */
MPI_Count vm_darray_elements(const struct vm_type_recipe *recipe);

/* Returns the number of elements of the whole array. */
MPI_Count vm_darray_whole(const struct vm_type_recipe *recipe);

#endif
