/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The constructors of datatypes, and the MPI-1 names of some.
 *
 * Each checks its arguments, writes them to a recipe and calls build.c to make
 * the type.
 */
#include <limits.h>
#include <string.h>

#include "mpi/call/attr.h"
#include "mpi/call/check.h"
#include "mpi/type/build.h"

/* Always checked, since invalid lengths would cause accesses out of bounds. */
static int check_length(struct vm_call *call, int length, const char *name)
{
	if (length < 0)
		return vm_error(call, MPI_ERR_ARG,
				"%s is %d, must not be negative", name, length);
	return 0;
}

static int check_lengths(struct vm_call *call, int count, const int lengths[])
{
	if (count == 0)
		return 0;
	if (!lengths)
		return vm_error(call, MPI_ERR_ARG,
				"array_of_blocklengths is NULL");
	for (int i = 0; i < count; i++)
		if (lengths[i] < 0)
			return vm_error(call, MPI_ERR_ARG,
					"array_of_blocklengths[%d] is %d, must "
					"not be negative",
					i, lengths[i]);
	return 0;
}

static int check_array(struct vm_call *call, int count, const void *array,
		       const char *name)
{
	if (count > 0 && !array)
		return vm_error(call, MPI_ERR_ARG, "%s is NULL", name);
	return 0;
}

/* Checks the common arguments of constructors. */
static int check_new(struct vm_call *call, int count, MPI_Datatype *newtype)
{
	int rc = vm_check_size(call, count, "count");

	if (rc != 0)
		return rc;
	if (count > (INT_MAX - 2) / 3)
		return vm_error(call, MPI_ERR_COUNT,
				"count is %d, at most %d blocks are supported",
				count, (INT_MAX - 2) / 3);
	if (!newtype)
		return vm_error(call, MPI_ERR_ARG, "newtype is NULL");
	return 0;
}

/* Makes a recipe for one old type; ints[0] is the count. */
static int begin(struct vm_call *call, struct vm_type_recipe **recipe,
		 int combiner, int count, int int_count, int aint_count,
		 MPI_Datatype oldtype)
{
	struct vm_type *old;
	int rc = vm_check_type(call, oldtype, &old);

	if (rc != 0)
		return rc;
	*recipe = vm_recipe_new(combiner, int_count, aint_count, 1);
	if (!*recipe)
		return vm_error(call, MPI_ERR_NO_MEM,
				"no memory for the arguments of a datatype");
	if (int_count)
		(*recipe)->ints[0] = count;
	(*recipe)->types[0] = vm_type_hold(old);
	return 0;
}

/* Builds the type and returns from the call. */
static int finish(struct vm_call *call, int rc, struct vm_type_recipe *recipe,
		  MPI_Datatype *newtype)
{
	struct vm_type *type = NULL;

	if (rc == 0)
		rc = vm_type_build(call, &type, recipe);
	if (rc == 0)
		*newtype = vm_type_handle(type);
	return vm_call_exit_self(call, rc);
}

static void copy_ints(int *to, const int *from, int n)
{
	if (n > 0)
		memcpy(to, from, (size_t)n * sizeof(*to));
}

static void copy_aints(MPI_Aint *to, const MPI_Aint *from, int n)
{
	if (n > 0)
		memcpy(to, from, (size_t)n * sizeof(*to));
}

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_contiguous);
	struct vm_type_recipe *recipe = NULL;
	int rc = 0;

	if (count < 0)
		rc = vm_error(&call, MPI_ERR_COUNT,
			      "count is %d, must not be negative", count);
	if (rc == 0)
		rc = vm_check_pointer(&call, newtype, "newtype");
	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_CONTIGUOUS, count, 1, 0,
			   oldtype);
	return finish(&call, rc, recipe, newtype);
}

/* Counts of vectors are not lengths of arrays: all of int is good. */
static int check_vector(struct vm_call *call, int count, int blocklength,
			MPI_Datatype *newtype)
{
	int rc = check_new(call, count < 0 ? count : 0, newtype);

	if (rc == 0)
		rc = check_length(call, blocklength, "blocklength");
	return rc;
}

int PMPI_Type_vector(int count, int blocklength, int stride,
		     MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_vector);
	struct vm_type_recipe *recipe = NULL;
	int rc = check_vector(&call, count, blocklength, newtype);

	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_VECTOR, count, 3, 0,
			   oldtype);
	if (rc == 0) {
		recipe->ints[1] = blocklength;
		recipe->ints[2] = stride;
	}
	return finish(&call, rc, recipe, newtype);
}

static int new_hvector(struct vm_call *call, int count, int blocklength,
		       MPI_Aint stride, MPI_Datatype oldtype,
		       MPI_Datatype *newtype)
{
	struct vm_type_recipe *recipe = NULL;
	int rc = check_vector(call, count, blocklength, newtype);

	if (rc == 0)
		rc = begin(call, &recipe, MPI_COMBINER_HVECTOR, count, 2, 1,
			   oldtype);
	if (rc == 0) {
		recipe->ints[1] = blocklength;
		recipe->aints[0] = stride;
	}
	return finish(call, rc, recipe, newtype);
}

int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride,
			     MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_create_hvector);

	return new_hvector(&call, count, blocklength, stride, oldtype, newtype);
}

int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride,
		      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_hvector);

	return new_hvector(&call, count, blocklength, stride, oldtype, newtype);
}

int PMPI_Type_indexed(int count, const int array_of_blocklengths[],
		      const int array_of_displacements[], MPI_Datatype oldtype,
		      MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_indexed);
	struct vm_type_recipe *recipe = NULL;
	int rc = check_new(&call, count, newtype);

	if (rc == 0)
		rc = check_lengths(&call, count, array_of_blocklengths);
	if (rc == 0)
		rc = check_array(&call, count, array_of_displacements,
				 "array_of_displacements");
	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_INDEXED, count,
			   2 * count + 1, 0, oldtype);
	if (rc == 0) {
		copy_ints(recipe->ints + 1, array_of_blocklengths, count);
		copy_ints(recipe->ints + 1 + count, array_of_displacements,
			  count);
	}
	return finish(&call, rc, recipe, newtype);
}

static int new_hindexed(struct vm_call *call, int count, const int lengths[],
			const MPI_Aint displacements[], MPI_Datatype oldtype,
			MPI_Datatype *newtype)
{
	struct vm_type_recipe *recipe = NULL;
	int rc = check_new(call, count, newtype);

	if (rc == 0)
		rc = check_lengths(call, count, lengths);
	if (rc == 0)
		rc = check_array(call, count, displacements,
				 "array_of_displacements");
	if (rc == 0)
		rc = begin(call, &recipe, MPI_COMBINER_HINDEXED, count,
			   count + 1, count, oldtype);
	if (rc == 0) {
		copy_ints(recipe->ints + 1, lengths, count);
		copy_aints(recipe->aints, displacements, count);
	}
	return finish(call, rc, recipe, newtype);
}

int PMPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
			      const MPI_Aint array_of_displacements[],
			      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_create_hindexed);

	return new_hindexed(&call, count, array_of_blocklengths,
			    array_of_displacements, oldtype, newtype);
}

int PMPI_Type_hindexed(int count, int array_of_blocklengths[],
		       MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
		       MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_hindexed);

	return new_hindexed(&call, count, array_of_blocklengths,
			    array_of_displacements, oldtype, newtype);
}

int PMPI_Type_create_indexed_block(int count, int blocklength,
				   const int array_of_displacements[],
				   MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_create_indexed_block);
	struct vm_type_recipe *recipe = NULL;
	int rc = check_new(&call, count, newtype);

	if (rc == 0)
		rc = check_length(&call, blocklength, "blocklength");
	if (rc == 0)
		rc = check_array(&call, count, array_of_displacements,
				 "array_of_displacements");
	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_INDEXED_BLOCK, count,
			   count + 2, 0, oldtype);
	if (rc == 0) {
		recipe->ints[1] = blocklength;
		copy_ints(recipe->ints + 2, array_of_displacements, count);
	}
	return finish(&call, rc, recipe, newtype);
}

int PMPI_Type_create_hindexed_block(int count, int blocklength,
				    const MPI_Aint array_of_displacements[],
				    MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_create_hindexed_block);
	struct vm_type_recipe *recipe = NULL;
	int rc = check_new(&call, count, newtype);

	if (rc == 0)
		rc = check_length(&call, blocklength, "blocklength");
	if (rc == 0)
		rc = check_array(&call, count, array_of_displacements,
				 "array_of_displacements");
	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_HINDEXED_BLOCK, count,
			   2, count, oldtype);
	if (rc == 0) {
		recipe->ints[1] = blocklength;
		copy_aints(recipe->aints, array_of_displacements, count);
	}
	return finish(&call, rc, recipe, newtype);
}

/* Like begin(), for count types. */
static int begin_struct(struct vm_call *call, struct vm_type_recipe **recipe,
			int count, const MPI_Datatype types[])
{
	struct vm_type_recipe *r;

	for (int i = 0; i < count; i++) {
		struct vm_type *type;
		int rc = vm_check_type(call, types[i], &type);

		if (rc != 0)
			return rc;
	}
	r = vm_recipe_new(MPI_COMBINER_STRUCT, count + 1, count, count);
	if (!r)
		return vm_error(call, MPI_ERR_NO_MEM,
				"no memory for the arguments of a datatype");
	r->ints[0] = count;
	for (int i = 0; i < count; i++)
		r->types[i] = vm_type_hold(vm_type_get(types[i]));
	*recipe = r;
	return 0;
}

static int new_struct(struct vm_call *call, int count, const int lengths[],
		      const MPI_Aint displacements[],
		      const MPI_Datatype types[], MPI_Datatype *newtype)
{
	struct vm_type_recipe *recipe = NULL;
	int rc = check_new(call, count, newtype);

	if (rc == 0)
		rc = check_lengths(call, count, lengths);
	if (rc == 0)
		rc = check_array(call, count, displacements,
				 "array_of_displacements");
	if (rc == 0)
		rc = check_array(call, count, types, "array_of_types");
	if (rc == 0)
		rc = begin_struct(call, &recipe, count, types);
	if (rc == 0) {
		copy_ints(recipe->ints + 1, lengths, count);
		copy_aints(recipe->aints, displacements, count);
	}
	return finish(call, rc, recipe, newtype);
}

int PMPI_Type_create_struct(int count, const int array_of_blocklengths[],
			    const MPI_Aint array_of_displacements[],
			    const MPI_Datatype array_of_types[],
			    MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_create_struct);

	return new_struct(&call, count, array_of_blocklengths,
			  array_of_displacements, array_of_types, newtype);
}

int PMPI_Type_struct(int count, int array_of_blocklengths[],
		     MPI_Aint array_of_displacements[],
		     MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_struct);

	return new_struct(&call, count, array_of_blocklengths,
			  array_of_displacements, array_of_types, newtype);
}

int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
			     MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_create_resized);
	struct vm_type_recipe *recipe = NULL;
	int rc = vm_check_pointer(&call, newtype, "newtype");

	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_RESIZED, 0, 0, 2,
			   oldtype);
	if (rc == 0) {
		recipe->aints[0] = lb;
		recipe->aints[1] = extent;
	}
	return finish(&call, rc, recipe, newtype);
}

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_dup);
	struct vm_type_recipe *recipe = NULL;
	struct vm_type_extra *from;
	struct vm_type *type = NULL;
	int rc = vm_check_pointer(&call, newtype, "newtype");

	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_DUP, 0, 0, 0, oldtype);
	if (rc == 0)
		rc = vm_type_build(&call, &type, recipe);
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	if (recipe->types[0]->committed)
		vm_type_commit(type);
	from = vm_type_extra(call.mpi, recipe->types[0]);
	rc = from ? vm_attrs_copy(call.mpi, &type->extra.attrs, oldtype,
				  from->attrs) :
		    MPI_ERR_NO_MEM;
	if (rc == 0)
		*newtype = vm_type_handle(type);
	else
		vm_type_drop(type);
	return vm_call_exit_self(&call, rc);
}

static int check_subarray(struct vm_call *call, int ndims, const int sizes[],
			  const int subsizes[], const int starts[], int order)
{
	if (ndims < 1)
		return vm_error(call, MPI_ERR_ARG,
				"ndims is %d, must be positive", ndims);
	if (!sizes || !subsizes || !starts)
		return vm_error(call, MPI_ERR_ARG,
				"an array of sizes or starts is NULL");
	for (int i = 0; i < ndims; i++) {
		if (sizes[i] < 1)
			return vm_error(call, MPI_ERR_ARG,
					"array_of_sizes[%d] is %d, must be "
					"positive",
					i, sizes[i]);
		if (subsizes[i] < 1 || subsizes[i] > sizes[i])
			return vm_error(call, MPI_ERR_ARG,
					"array_of_subsizes[%d] is %d, must be "
					"1 to %d",
					i, subsizes[i], sizes[i]);
		if (starts[i] < 0 || starts[i] > sizes[i] - subsizes[i])
			return vm_error(call, MPI_ERR_ARG,
					"array_of_starts[%d] is %d, must be 0 "
					"to %d",
					i, starts[i], sizes[i] - subsizes[i]);
	}
	if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
		return vm_error(call, MPI_ERR_ARG,
				"order is %d, must be MPI_ORDER_C or "
				"MPI_ORDER_FORTRAN",
				order);
	return 0;
}

int PMPI_Type_create_subarray(int ndims, const int array_of_sizes[],
			      const int array_of_subsizes[],
			      const int array_of_starts[], int order,
			      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_create_subarray);
	struct vm_type_recipe *recipe = NULL;
	int rc = check_subarray(&call, ndims, array_of_sizes, array_of_subsizes,
				array_of_starts, order);

	if (rc == 0)
		rc = check_new(&call, ndims, newtype);
	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_SUBARRAY, ndims,
			   3 * ndims + 2, 0, oldtype);
	if (rc == 0) {
		copy_ints(recipe->ints + 1, array_of_sizes, ndims);
		copy_ints(recipe->ints + 1 + ndims, array_of_subsizes, ndims);
		copy_ints(recipe->ints + 1 + 2 * ndims, array_of_starts, ndims);
		recipe->ints[3 * ndims + 1] = order;
	}
	return finish(&call, rc, recipe, newtype);
}
