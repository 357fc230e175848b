/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recipes of derived datatypes.
 */
#include "mpi/type/recipe.h"

#include <stdlib.h>

#include "mpi/type/darray.h"

struct vm_type_recipe *vm_recipe_new(int combiner, size_t int_count,
				     size_t aint_count, size_t type_count)
{
	const size_t most = PTRDIFF_MAX / sizeof(MPI_Count) / 4;
	struct vm_type_recipe *recipe;

	if (int_count > most || aint_count > most || type_count > most)
		return NULL;
	recipe = calloc(1, sizeof(*recipe) + type_count * sizeof(void *) +
				   aint_count * sizeof(MPI_Aint) +
				   int_count * sizeof(MPI_Count));
	if (!recipe)
		return NULL;
	recipe->combiner = combiner;
	recipe->int_count = int_count;
	recipe->aint_count = aint_count;
	recipe->type_count = type_count;
	recipe->types = (struct vm_type **)(recipe + 1);
	recipe->aints = (MPI_Aint *)(recipe->types + type_count);
	recipe->ints = (MPI_Count *)(recipe->aints + aint_count);
	return recipe;
}

void vm_recipe_free(struct vm_type_recipe *recipe)
{
	if (!recipe)
		return;
	for (size_t i = 0; i < recipe->type_count; i++)
		if (recipe->types[i])
			vm_type_drop(recipe->types[i]);
	free(recipe);
}

/* Of elements without bytes there may be more than MPI_Count has; then the number
 * means nothing. */
static MPI_Count product(MPI_Count a, MPI_Count b)
{
	return (MPI_Count)((uint64_t)a * (uint64_t)b);
}

/* Returns the elements of the only part of a recipe other than struct. */
static MPI_Count part_length(const struct vm_type_recipe *recipe)
{
	const MPI_Count *ints = recipe->ints;
	MPI_Count length = 1;

	switch (recipe->combiner) {
	case MPI_COMBINER_CONTIGUOUS:
		return ints[0];
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
		return product(ints[0], ints[1]);
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
		length = 0;
		for (MPI_Count i = 0; i < ints[0]; i++)
			length += ints[1 + i];
		return length;
	case MPI_COMBINER_SUBARRAY:
		for (MPI_Count i = 0; i < ints[0]; i++)
			length = product(length, ints[1 + ints[0] + i]);
		return length;
	case MPI_COMBINER_DARRAY:
		return vm_darray_elements(recipe);
	default: /* DUP, RESIZED */
		return 1;
	}
}

const struct vm_type *vm_recipe_part(const struct vm_type_recipe *recipe,
				     size_t index, MPI_Count *length)
{
	if (index >= recipe->type_count)
		return NULL;
	if (recipe->combiner == MPI_COMBINER_STRUCT)
		*length = recipe->ints[1 + index];
	else
		*length = part_length(recipe);
	return recipe->types[index];
}
