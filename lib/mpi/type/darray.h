/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributed arrays: the part of an array that one process of a grid has.
 *
 * Block and no distribution are cyclic ones with a single round, so that there
 * is one rule: in each dimension blocks go round the processes.
 */
#ifndef MPI_TYPE_DARRAY_H
#define MPI_TYPE_DARRAY_H

#include "mpi/type/build.h"

/* As vm_recipe_block_count() and vm_recipe_blocks(), for this combiner. */
size_t vm_darray_block_count(const struct vm_type_recipe *recipe);
void vm_darray_blocks(const struct vm_type_recipe *recipe,
		      struct vm_block *blocks);

/* How many elements the process has. */
MPI_Count vm_darray_elements(const struct vm_type_recipe *recipe);

/* How many elements the whole array has. */
MPI_Count vm_darray_whole(const struct vm_type_recipe *recipe);

#endif
