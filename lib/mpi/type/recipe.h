/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recipes of derived datatypes: the constructor and its arguments, in the order
 * of MPI_Type_get_contents (MPI 4.1, 5.1.13).
 *
 * A constructor fills in a recipe and build.c makes the type from it.  The type
 * keeps the recipe, since programs can query it.
 */
#ifndef MPI_TYPE_RECIPE_H
#define MPI_TYPE_RECIPE_H

#include "mpi/type/type.h"

/* One allocation: the arrays follow the struct. */
struct vm_type_recipe {
	int combiner; /* MPI_COMBINER_... */
	bool large;   /* of a constructor with MPI_Count */
	size_t int_count, aint_count, type_count;
	/* What the constructor with int takes as int, and as MPI_Aint. */
	MPI_Count *ints;
	MPI_Aint *aints;
	struct vm_type **types; /* each holds a reference */
};

/* Allocates a recipe with zeroed arrays of these lengths; NULL when out of
 * memory. */
struct vm_type_recipe *vm_recipe_new(int combiner, size_t int_count,
				     size_t aint_count, size_t type_count);
/* Frees a recipe and drops its types. */
void vm_recipe_free(struct vm_type_recipe *recipe);

/*
 * Iterates over the parts of a type in the order of its type map: part `index`
 * is *length elements of the returned type; NULL after the last part.
 */
const struct vm_type *vm_recipe_part(const struct vm_type_recipe *recipe,
				     size_t index, MPI_Count *length);

#endif
