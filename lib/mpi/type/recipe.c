/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recipes of derived datatypes, and the two MPI functions that read them.
 */
#include "mpi/type/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/call/check.h"
#include "mpi/type/darray.h"

struct vm_type_recipe *vm_recipe_new(int combiner, int int_count,
				     int aint_count, int type_count)
{
	size_t types = (size_t)type_count * sizeof(struct vm_type *);
	size_t aints = (size_t)aint_count * sizeof(MPI_Aint);
	size_t ints = (size_t)int_count * sizeof(int);
	struct vm_type_recipe *recipe =
		calloc(1, sizeof(*recipe) + types + aints + ints);

	if (!recipe)
		return NULL;
	recipe->combiner = combiner;
	recipe->int_count = int_count;
	recipe->aint_count = aint_count;
	recipe->type_count = type_count;
	recipe->types = (struct vm_type **)(recipe + 1);
	recipe->aints = (MPI_Aint *)(recipe->types + type_count);
	recipe->ints = (int *)(recipe->aints + aint_count);
	return recipe;
}

void vm_recipe_free(struct vm_type_recipe *recipe)
{
	if (!recipe)
		return;
	for (int i = 0; i < recipe->type_count; i++)
		if (recipe->types[i])
			vm_type_drop(recipe->types[i]);
	free(recipe);
}

/* Returns the elements of the only part of a recipe other than struct. */
static MPI_Count part_length(const struct vm_type_recipe *recipe)
{
	const int *ints = recipe->ints;
	MPI_Count length = 1;

	switch (recipe->combiner) {
	case MPI_COMBINER_CONTIGUOUS:
		return ints[0];
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
		return (MPI_Count)ints[0] * ints[1];
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
		length = 0;
		for (int i = 0; i < ints[0]; i++)
			length += ints[1 + i];
		return length;
	case MPI_COMBINER_SUBARRAY:
		for (int i = 0; i < ints[0]; i++)
			length *= ints[1 + ints[0] + i];
		return length;
	case MPI_COMBINER_DARRAY:
		return vm_darray_elements(recipe);
	default: /* DUP, RESIZED */
		return 1;
	}
}

const struct vm_type *vm_recipe_part(const struct vm_type_recipe *recipe,
				     int index, MPI_Count *length)
{
	if (index >= recipe->type_count)
		return NULL;
	if (recipe->combiner == MPI_COMBINER_STRUCT)
		*length = recipe->ints[1 + index];
	else
		*length = part_length(recipe);
	return recipe->types[index];
}

int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers,
			   int *num_addresses, int *num_datatypes,
			   int *combiner)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_get_envelope);
	struct vm_type *type;
	int rc = vm_check_type(&call, datatype, &type);

	if (rc == 0)
		rc = vm_check_pointer(&call, num_integers, "num_integers");
	if (rc == 0)
		rc = vm_check_pointer(&call, num_addresses, "num_addresses");
	if (rc == 0)
		rc = vm_check_pointer(&call, num_datatypes, "num_datatypes");
	if (rc == 0)
		rc = vm_check_pointer(&call, combiner, "combiner");
	if (rc == 0) {
		const struct vm_type_recipe *recipe = type->recipe;

		*num_integers = recipe ? recipe->int_count : 0;
		*num_addresses = recipe ? recipe->aint_count : 0;
		*num_datatypes = recipe ? recipe->type_count : 0;
		*combiner = recipe ? recipe->combiner : MPI_COMBINER_NAMED;
	}
	return vm_call_exit_self(&call, rc);
}

/* Tells whether the caller's array, of `most` elements, has room for
 * `count`. */
static int check_room(struct vm_call *call, const char *what, int most,
		      const void *array, int count)
{
	if (most < count)
		return vm_error(call, MPI_ERR_ARG, "max_%s is %d, there are %d",
				what, most, count);
	if (count > 0 && !array)
		return vm_error(call, MPI_ERR_ARG, "array_of_%s is NULL", what);
	return 0;
}

static int check_contents(struct vm_call *call, MPI_Datatype datatype,
			  const struct vm_type_recipe **recipe)
{
	struct vm_type *type;
	int rc = vm_check_type(call, datatype, &type);

	if (rc != 0)
		return rc;
	*recipe = type->recipe;
	if (*recipe)
		return 0;
	return vm_error(call, MPI_ERR_TYPE,
			"%s is predefined and has no contents",
			vm_type_name(type));
}

int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers,
			   int max_addresses, int max_datatypes,
			   int array_of_integers[],
			   MPI_Aint array_of_addresses[],
			   MPI_Datatype array_of_datatypes[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_get_contents);
	const struct vm_type_recipe *recipe;
	int rc = check_contents(&call, datatype, &recipe);

	if (rc == 0)
		rc = check_room(&call, "integers", max_integers,
				array_of_integers, recipe->int_count);
	if (rc == 0)
		rc = check_room(&call, "addresses", max_addresses,
				array_of_addresses, recipe->aint_count);
	if (rc == 0)
		rc = check_room(&call, "datatypes", max_datatypes,
				array_of_datatypes, recipe->type_count);
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	if (recipe->int_count)
		memcpy(array_of_integers, recipe->ints,
		       (size_t)recipe->int_count * sizeof(int));
	if (recipe->aint_count)
		memcpy(array_of_addresses, recipe->aints,
		       (size_t)recipe->aint_count * sizeof(MPI_Aint));
	for (int i = 0; i < recipe->type_count; i++)
		array_of_datatypes[i] = vm_type_give(recipe->types[i]);
	return vm_call_exit_self(&call, 0);
}
