/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The constructors of datatypes, for int and MPI_Count (mpi/call/twin.h).
 *
 * Each checks its arguments, writes them to a recipe and calls build.c to make
 * the type.
 */
#include <limits.h>
#include <string.h>

#include "mpi/call/check.h"
#include "mpi/call/twin.h"
#include "mpi/type/build.h"

/* Always checked, since invalid lengths would cause accesses out of bounds. */
static int check_length(struct vm_call *call, vm_count length, const char *name)
{
	if (length < 0)
		return vm_error(call, MPI_ERR_ARG,
				"%s is %lld, must not be negative", name,
				(long long)length);
	return 0;
}

static int check_lengths(struct vm_call *call, vm_count count,
			 const vm_count lengths[])
{
	if (count == 0)
		return 0;
	if (!lengths)
		return vm_error(call, MPI_ERR_ARG,
				"array_of_blocklengths is NULL");
	for (vm_count i = 0; i < count; i++)
		if (lengths[i] < 0)
			return vm_error(call, MPI_ERR_ARG,
					"array_of_blocklengths[%lld] is %lld, "
					"must not be negative",
					(long long)i, (long long)lengths[i]);
	return 0;
}

static int check_array(struct vm_call *call, vm_count count, const void *array,
		       const char *name)
{
	if (count > 0 && !array)
		return vm_error(call, MPI_ERR_ARG, "%s is NULL", name);
	return 0;
}

/* Checks the common arguments of constructors. */
static int check_new(struct vm_call *call, vm_count count,
		     MPI_Datatype *newtype)
{
	int rc = vm_check_size(call, count, "count");

	if (rc != 0)
		return rc;
	/* The numbers of an envelope must fit. */
	if (sizeof(count) == sizeof(int) && count > (INT_MAX - 2) / 3)
		return vm_error(call, MPI_ERR_COUNT,
				"count is %lld, at most %d blocks are "
				"supported",
				(long long)count, (INT_MAX - 2) / 3);
	if (!newtype)
		return vm_error(call, MPI_ERR_ARG, "newtype is NULL");
	return 0;
}

/* Makes a recipe for one old type; ints[0] is the count. */
static int begin(struct vm_call *call, struct vm_type_recipe **recipe,
		 int combiner, vm_count count, size_t int_count,
		 size_t aint_count, MPI_Datatype oldtype)
{
	struct vm_type *old;
	int rc = vm_check_type(call, oldtype, &old);

	if (rc != 0)
		return rc;
	*recipe = vm_recipe_new(combiner, int_count, aint_count, 1);
	if (!*recipe)
		return vm_error(call, MPI_ERR_NO_MEM,
				"no memory for the arguments of a datatype");
	(*recipe)->large = VM_TWIN_AFTER;
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
	else
		vm_recipe_free(recipe);
	if (rc == 0)
		*newtype = vm_type_handle(type);
	return vm_call_exit_self(call, rc);
}

static void copy_ints(MPI_Count *to, const vm_count *from, vm_count n)
{
	for (vm_count i = 0; i < n; i++)
		to[i] = from[i];
}

static void copy_aints(MPI_Aint *to, const MPI_Aint *from, vm_count n)
{
	if (n > 0)
		memcpy(to, from, (size_t)n * sizeof(*to));
}

int VM_TWIN(PMPI_Type_contiguous)(vm_count count, MPI_Datatype oldtype,
				  MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Type_contiguous));
	struct vm_type_recipe *recipe = NULL;
	int rc = 0;

	if (count < 0)
		rc = vm_error(&call, MPI_ERR_COUNT,
			      "count is %lld, must not be negative",
			      (long long)count);
	if (rc == 0)
		rc = vm_check_pointer(&call, newtype, "newtype");
	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_CONTIGUOUS, count, 1, 0,
			   oldtype);
	return finish(&call, rc, recipe, newtype);
}

/* Counts of vectors are not lengths of arrays: all of int is good. */
static int check_vector(struct vm_call *call, vm_count count,
			vm_count blocklength, MPI_Datatype *newtype)
{
	int rc = check_new(call, count < 0 ? count : 0, newtype);

	if (rc == 0)
		rc = check_length(call, blocklength, "blocklength");
	return rc;
}

int VM_TWIN(PMPI_Type_vector)(vm_count count, vm_count blocklength,
			      vm_count stride, MPI_Datatype oldtype,
			      MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Type_vector));
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

int VM_TWIN(PMPI_Type_create_hvector)(vm_count count, vm_count blocklength,
				      MPI_Aint stride, MPI_Datatype oldtype,
				      MPI_Datatype *newtype)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Type_create_hvector));
	struct vm_type_recipe *recipe = NULL;
	int rc = check_vector(&call, count, blocklength, newtype);

	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_HVECTOR, count, 2, 1,
			   oldtype);
	if (rc == 0) {
		recipe->ints[1] = blocklength;
		recipe->aints[0] = stride;
	}
	return finish(&call, rc, recipe, newtype);
}

int VM_TWIN(PMPI_Type_indexed)(vm_count count,
			       const vm_count array_of_blocklengths[],
			       const vm_count array_of_displacements[],
			       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Type_indexed));
	struct vm_type_recipe *recipe = NULL;
	int rc = check_new(&call, count, newtype);

	if (rc == 0)
		rc = check_lengths(&call, count, array_of_blocklengths);
	if (rc == 0)
		rc = check_array(&call, count, array_of_displacements,
				 "array_of_displacements");
	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_INDEXED, count,
			   2 * (size_t)count + 1, 0, oldtype);
	if (rc == 0) {
		copy_ints(recipe->ints + 1, array_of_blocklengths, count);
		copy_ints(recipe->ints + 1 + count, array_of_displacements,
			  count);
	}
	return finish(&call, rc, recipe, newtype);
}

int VM_TWIN(PMPI_Type_create_hindexed)(vm_count count,
				       const vm_count array_of_blocklengths[],
				       const MPI_Aint array_of_displacements[],
				       MPI_Datatype oldtype,
				       MPI_Datatype *newtype)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Type_create_hindexed));
	struct vm_type_recipe *recipe = NULL;
	int rc = check_new(&call, count, newtype);

	if (rc == 0)
		rc = check_lengths(&call, count, array_of_blocklengths);
	if (rc == 0)
		rc = check_array(&call, count, array_of_displacements,
				 "array_of_displacements");
	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_HINDEXED, count,
			   (size_t)count + 1, (size_t)count, oldtype);
	if (rc == 0) {
		copy_ints(recipe->ints + 1, array_of_blocklengths, count);
		copy_aints(recipe->aints, array_of_displacements, count);
	}
	return finish(&call, rc, recipe, newtype);
}

int VM_TWIN(PMPI_Type_create_indexed_block)(
	vm_count count, vm_count blocklength,
	const vm_count array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Type_create_indexed_block));
	struct vm_type_recipe *recipe = NULL;
	int rc = check_new(&call, count, newtype);

	if (rc == 0)
		rc = check_length(&call, blocklength, "blocklength");
	if (rc == 0)
		rc = check_array(&call, count, array_of_displacements,
				 "array_of_displacements");
	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_INDEXED_BLOCK, count,
			   (size_t)count + 2, 0, oldtype);
	if (rc == 0) {
		recipe->ints[1] = blocklength;
		copy_ints(recipe->ints + 2, array_of_displacements, count);
	}
	return finish(&call, rc, recipe, newtype);
}

int VM_TWIN(PMPI_Type_create_hindexed_block)(
	vm_count count, vm_count blocklength,
	const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
	MPI_Datatype *newtype)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Type_create_hindexed_block));
	struct vm_type_recipe *recipe = NULL;
	int rc = check_new(&call, count, newtype);

	if (rc == 0)
		rc = check_length(&call, blocklength, "blocklength");
	if (rc == 0)
		rc = check_array(&call, count, array_of_displacements,
				 "array_of_displacements");
	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_HINDEXED_BLOCK, count,
			   2, (size_t)count, oldtype);
	if (rc == 0) {
		recipe->ints[1] = blocklength;
		copy_aints(recipe->aints, array_of_displacements, count);
	}
	return finish(&call, rc, recipe, newtype);
}

/* Like begin(), for count types. */
static int begin_struct(struct vm_call *call, struct vm_type_recipe **recipe,
			vm_count count, const MPI_Datatype types[])
{
	struct vm_type_recipe *r;

	for (vm_count i = 0; i < count; i++) {
		struct vm_type *type;
		int rc = vm_check_type(call, types[i], &type);

		if (rc != 0)
			return rc;
	}
	r = vm_recipe_new(MPI_COMBINER_STRUCT, (size_t)count + 1, (size_t)count,
			  (size_t)count);
	if (!r)
		return vm_error(call, MPI_ERR_NO_MEM,
				"no memory for the arguments of a datatype");
	r->large = VM_TWIN_AFTER;
	r->ints[0] = count;
	for (vm_count i = 0; i < count; i++)
		r->types[i] = vm_type_hold(vm_type_get(types[i]));
	*recipe = r;
	return 0;
}

int VM_TWIN(PMPI_Type_create_struct)(vm_count count,
				     const vm_count array_of_blocklengths[],
				     const MPI_Aint array_of_displacements[],
				     const MPI_Datatype array_of_types[],
				     MPI_Datatype *newtype)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Type_create_struct));
	struct vm_type_recipe *recipe = NULL;
	int rc = check_new(&call, count, newtype);

	if (rc == 0)
		rc = check_lengths(&call, count, array_of_blocklengths);
	if (rc == 0)
		rc = check_array(&call, count, array_of_displacements,
				 "array_of_displacements");
	if (rc == 0)
		rc = check_array(&call, count, array_of_types,
				 "array_of_types");
	if (rc == 0)
		rc = begin_struct(&call, &recipe, count, array_of_types);
	if (rc == 0) {
		copy_ints(recipe->ints + 1, array_of_blocklengths, count);
		copy_aints(recipe->aints, array_of_displacements, count);
	}
	return finish(&call, rc, recipe, newtype);
}

int VM_TWIN(PMPI_Type_create_resized)(MPI_Datatype oldtype, MPI_Aint lb,
				      MPI_Aint extent, MPI_Datatype *newtype)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Type_create_resized));
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

static int check_subarray(struct vm_call *call, int ndims,
			  const vm_count sizes[], const vm_count subsizes[],
			  const vm_count starts[], int order)
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
					"array_of_sizes[%d] is %lld, must be "
					"positive",
					i, (long long)sizes[i]);
		if (subsizes[i] < 1 || subsizes[i] > sizes[i])
			return vm_error(call, MPI_ERR_ARG,
					"array_of_subsizes[%d] is %lld, must "
					"be 1 to %lld",
					i, (long long)subsizes[i],
					(long long)sizes[i]);
		if (starts[i] < 0 || starts[i] > sizes[i] - subsizes[i])
			return vm_error(call, MPI_ERR_ARG,
					"array_of_starts[%d] is %lld, must be "
					"0 to %lld",
					i, (long long)starts[i],
					(long long)(sizes[i] - subsizes[i]));
	}
	if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
		return vm_error(call, MPI_ERR_ARG,
				"order is %d, must be MPI_ORDER_C or "
				"MPI_ORDER_FORTRAN",
				order);
	return 0;
}

int VM_TWIN(PMPI_Type_create_subarray)(int ndims,
				       const vm_count array_of_sizes[],
				       const vm_count array_of_subsizes[],
				       const vm_count array_of_starts[],
				       int order, MPI_Datatype oldtype,
				       MPI_Datatype *newtype)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Type_create_subarray));
	struct vm_type_recipe *recipe = NULL;
	int rc = check_subarray(&call, ndims, array_of_sizes, array_of_subsizes,
				array_of_starts, order);

	if (rc == 0)
		rc = check_new(&call, ndims, newtype);
	if (rc == 0)
		rc = begin(&call, &recipe, MPI_COMBINER_SUBARRAY, ndims,
			   3 * (size_t)ndims + 2, 0, oldtype);
	if (rc == 0) {
		copy_ints(recipe->ints + 1, array_of_sizes, ndims);
		copy_ints(recipe->ints + 1 + ndims, array_of_subsizes, ndims);
		copy_ints(recipe->ints + 1 + 2 * ndims, array_of_starts, ndims);
		recipe->ints[3 * ndims + 1] = order;
		rc = vm_check_array(&call, recipe->types[0], (size_t)ndims,
				    recipe->ints + 1);
	}
	return finish(&call, rc, recipe, newtype);
}
