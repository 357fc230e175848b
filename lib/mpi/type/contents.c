/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Envelope and contents of a datatype: its recipe, as the program wrote it.
 *
 * Of a constructor with MPI_Count nearly all arguments are large counts, in the
 * order in which the other one has them as integers and addresses.
 */
#include "mpi/call/check.h"
#include "mpi/type/recipe.h"

/* How many arguments of each kind there are. */
struct numbers {
	size_t ints, aints, counts, types;
};

/* Tells whether argument i, an int of the constructor with int, is an int of
 * both. */
static bool is_small(const struct vm_type_recipe *recipe, size_t i)
{
	size_t ndims;

	switch (recipe->combiner) {
	case MPI_COMBINER_SUBARRAY: /* the number of dimensions and the order */
		return i == 0 || i == recipe->int_count - 1;
	case MPI_COMBINER_DARRAY: /* all but the sizes of the array */
		ndims = (size_t)recipe->ints[2];
		return i < 3 || i >= 3 + ndims;
	default:
		return false;
	}
}

static struct numbers numbers_of(const struct vm_type_recipe *recipe)
{
	struct numbers n = { 0 };

	if (!recipe)
		return n;
	n.types = recipe->type_count;
	if (!recipe->large) {
		n.ints = recipe->int_count;
		n.aints = recipe->aint_count;
		return n;
	}
	for (size_t i = 0; i < recipe->int_count; i++)
		n.ints += is_small(recipe, i);
	n.counts = recipe->int_count - n.ints + recipe->aint_count;
	return n;
}

/* Finds the recipe of a type for a call that knows large counts, or not; NULL if
 * it is predefined. */
static int recipe_get(struct vm_call *call, MPI_Datatype datatype, bool large,
		      const struct vm_type_recipe **recipe)
{
	struct vm_type *type;
	int rc = vm_check_type(call, datatype, &type);

	if (rc != 0)
		return rc;
	*recipe = type->recipe;
	if (*recipe && (*recipe)->large && !large)
		return vm_error(call, MPI_ERR_TYPE,
				"the datatype was made with large counts: "
				"%s_c tells how",
				vm_call_name(call->id));
	return 0;
}

int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers,
			   int *num_addresses, int *num_datatypes,
			   int *combiner)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_get_envelope);
	const struct vm_type_recipe *recipe;
	int rc = recipe_get(&call, datatype, false, &recipe);

	if (rc == 0)
		rc = vm_check_pointer(&call, num_integers, "num_integers");
	if (rc == 0)
		rc = vm_check_pointer(&call, num_addresses, "num_addresses");
	if (rc == 0)
		rc = vm_check_pointer(&call, num_datatypes, "num_datatypes");
	if (rc == 0)
		rc = vm_check_pointer(&call, combiner, "combiner");
	if (rc == 0) {
		struct numbers n = numbers_of(recipe);

		*num_integers = (int)n.ints;
		*num_addresses = (int)n.aints;
		*num_datatypes = (int)n.types;
		*combiner = recipe ? recipe->combiner : MPI_COMBINER_NAMED;
	}
	return vm_call_exit_self(&call, rc);
}

int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers,
			     MPI_Count *num_addresses,
			     MPI_Count *num_large_counts,
			     MPI_Count *num_datatypes, int *combiner)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_get_envelope_c);
	const struct vm_type_recipe *recipe;
	int rc = recipe_get(&call, datatype, true, &recipe);

	if (rc == 0)
		rc = vm_check_pointer(&call, num_integers, "num_integers");
	if (rc == 0)
		rc = vm_check_pointer(&call, num_addresses, "num_addresses");
	if (rc == 0)
		rc = vm_check_pointer(&call, num_large_counts,
				      "num_large_counts");
	if (rc == 0)
		rc = vm_check_pointer(&call, num_datatypes, "num_datatypes");
	if (rc == 0)
		rc = vm_check_pointer(&call, combiner, "combiner");
	if (rc == 0) {
		struct numbers n = numbers_of(recipe);

		*num_integers = (MPI_Count)n.ints;
		*num_addresses = (MPI_Count)n.aints;
		*num_large_counts = (MPI_Count)n.counts;
		*num_datatypes = (MPI_Count)n.types;
		*combiner = recipe ? recipe->combiner : MPI_COMBINER_NAMED;
	}
	return vm_call_exit_self(&call, rc);
}

/* The caller's arrays, and how many elements they have. */
struct room {
	MPI_Count max_ints, max_aints, max_counts, max_types;
	int *ints;
	MPI_Aint *aints;
	MPI_Count *counts;
	MPI_Datatype *types;
};

/* Checks that the caller's array, of `most` elements, has room for `count`. */
static int check_room(struct vm_call *call, const char *what, MPI_Count most,
		      const void *array, size_t count)
{
	if (most < (MPI_Count)count)
		return vm_error(call, MPI_ERR_ARG,
				"max_%s is %lld, there are %zu", what,
				(long long)most, count);
	if (count > 0 && !array)
		return vm_error(call, MPI_ERR_ARG, "array_of_%s is NULL", what);
	return 0;
}

static int check_contents(struct vm_call *call, MPI_Datatype datatype,
			  const struct room *room, bool large,
			  const struct vm_type_recipe **recipe)
{
	struct numbers n;
	int rc = recipe_get(call, datatype, large, recipe);

	if (rc != 0)
		return rc;
	if (!*recipe)
		return vm_error(call, MPI_ERR_TYPE,
				"%s is predefined and has no contents",
				vm_type_name(vm_type_get(datatype)));
	n = numbers_of(*recipe);
	rc = check_room(call, "integers", room->max_ints, room->ints, n.ints);
	if (rc == 0)
		rc = check_room(call, "addresses", room->max_aints, room->aints,
				n.aints);
	if (rc == 0)
		rc = check_room(call, "large_counts", room->max_counts,
				room->counts, n.counts);
	if (rc == 0)
		rc = check_room(call, "datatypes", room->max_types, room->types,
				n.types);
	return rc;
}

static void contents_copy(const struct vm_type_recipe *recipe, struct room room)
{
	for (size_t i = 0; i < recipe->int_count; i++) {
		if (!recipe->large || is_small(recipe, i))
			*room.ints++ = (int)recipe->ints[i];
		else
			*room.counts++ = recipe->ints[i];
	}
	for (size_t i = 0; i < recipe->aint_count; i++) {
		if (recipe->large)
			*room.counts++ = recipe->aints[i];
		else
			*room.aints++ = recipe->aints[i];
	}
	for (size_t i = 0; i < recipe->type_count; i++)
		room.types[i] = vm_type_give(recipe->types[i]);
}

int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers,
			   int max_addresses, int max_datatypes,
			   int array_of_integers[],
			   MPI_Aint array_of_addresses[],
			   MPI_Datatype array_of_datatypes[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_get_contents);
	struct room room = { .max_ints = max_integers,
			     .max_aints = max_addresses,
			     .max_types = max_datatypes,
			     .ints = array_of_integers,
			     .aints = array_of_addresses,
			     .types = array_of_datatypes };
	const struct vm_type_recipe *recipe;
	int rc = check_contents(&call, datatype, &room, false, &recipe);

	if (rc == 0)
		contents_copy(recipe, room);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers,
			     MPI_Count max_addresses,
			     MPI_Count max_large_counts,
			     MPI_Count max_datatypes, int array_of_integers[],
			     MPI_Aint array_of_addresses[],
			     MPI_Count array_of_large_counts[],
			     MPI_Datatype array_of_datatypes[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_get_contents_c);
	struct room room = { .max_ints = max_integers,
			     .max_aints = max_addresses,
			     .max_counts = max_large_counts,
			     .max_types = max_datatypes,
			     .ints = array_of_integers,
			     .aints = array_of_addresses,
			     .counts = array_of_large_counts,
			     .types = array_of_datatypes };
	const struct vm_type_recipe *recipe;
	int rc = check_contents(&call, datatype, &room, true, &recipe);

	if (rc == 0)
		contents_copy(recipe, room);
	return vm_call_exit_self(&call, rc);
}
