/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a derived datatype was made: its constructor and the arguments, in the
 * order of MPI_Type_get_contents (MPI 4.1, 5.1.13).
 *
 * A constructor fills a recipe in; build.c makes the type from it; the
 * type keeps it, because the user may ask for it.
 */
#ifndef MPI_TYPE_RECIPE_H
#define MPI_TYPE_RECIPE_H

#include "mpi/type/type.h"

/* One block of memory; the arrays lie behind the struct. */
struct vm_type_recipe {
	int combiner; /* MPI_COMBINER_... */
	int int_count, aint_count, type_count;
	int *ints;
	MPI_Aint *aints;
	struct vm_type **types; /* each holds a reference */
};

/* Arrays of these lengths, zeroed; NULL when out of memory. */
struct vm_type_recipe *vm_recipe_new(int combiner, int int_count,
				     int aint_count, int type_count);
/* Drops the types, too. */
void vm_recipe_free(struct vm_type_recipe *recipe);

/*
 * Walks the parts of a type in the order of its type map: part `index` is
 * *length elements of the result; NULL behind the last part.
 */
const struct vm_type *vm_recipe_part(const struct vm_type_recipe *recipe,
				     int index, MPI_Count *length);

#endif
