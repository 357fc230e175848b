/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The constructor of distributed arrays, for int and MPI_Count
 * (mpi/call/twin.h).
 */
#include "mpi/call/check.h"
#include "mpi/call/twin.h"
#include "mpi/type/darray.h"

/* One dimension of the arguments. */
static int check_dimension(struct vm_call *call, int i, MPI_Count size,
			   int distrib, int darg, int processes)
{
	if (size < 1)
		return vm_error(call, MPI_ERR_ARG,
				"array_of_gsizes[%d] is %lld, must be "
				"positive",
				i, (long long)size);
	if (processes < 1)
		return vm_error(call, MPI_ERR_ARG,
				"array_of_psizes[%d] is %d, must be positive",
				i, processes);
	if (distrib != MPI_DISTRIBUTE_NONE && distrib != MPI_DISTRIBUTE_BLOCK &&
	    distrib != MPI_DISTRIBUTE_CYCLIC)
		return vm_error(call, MPI_ERR_ARG,
				"array_of_distribs[%d] is %d, which is no "
				"distribution",
				i, distrib);
	if (distrib == MPI_DISTRIBUTE_NONE)
		return processes == 1 ?
			       0 :
			       vm_error(call, MPI_ERR_ARG,
					"dimension %d is not distributed, but "
					"the grid has %d processes in it",
					i, processes);
	if (darg < 1)
		return vm_error(call, MPI_ERR_ARG,
				"array_of_dargs[%d] is %d, must be positive", i,
				darg);
	if (distrib == MPI_DISTRIBUTE_BLOCK &&
	    (vm_wide)vm_darray_block(size, distrib, darg, processes) *
			    processes <
		    size)
		return vm_error(call, MPI_ERR_ARG,
				"dimension %d: %d blocks of %d do not hold "
				"%lld elements",
				i, processes, darg, (long long)size);
	return 0;
}

static int check_grid(struct vm_call *call, int size, int rank, int ndims,
		      const int psizes[])
{
	MPI_Count processes = 1;

	for (int i = 0; i < ndims && processes <= size; i++)
		processes *= psizes[i];
	if (processes != size)
		return vm_error(call, MPI_ERR_ARG,
				"size is %d, which is not the product of "
				"array_of_psizes",
				size);
	if (rank < 0 || rank >= size)
		return vm_error(call, MPI_ERR_ARG, "rank is %d of %d", rank,
				size);
	return 0;
}

static int check_darray(struct vm_call *call, int ndims,
			const vm_count gsizes[], const int distribs[],
			const int dargs[], const int psizes[], int order)
{
	int rc = 0;

	if (ndims < 1 || ndims > 1 << 20)
		return vm_error(call, MPI_ERR_ARG, "ndims is %d", ndims);
	if (!gsizes || !distribs || !dargs || !psizes)
		return vm_error(call, MPI_ERR_ARG,
				"an array of the dimensions is NULL");
	for (int i = 0; i < ndims && rc == 0; i++)
		rc = check_dimension(call, i, gsizes[i], distribs[i], dargs[i],
				     psizes[i]);
	if (rc == 0 && order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
		rc = vm_error(call, MPI_ERR_ARG,
			      "order is %d, must be MPI_ORDER_C or "
			      "MPI_ORDER_FORTRAN",
			      order);
	return rc;
}

int VM_TWIN(PMPI_Type_create_darray)(int size, int rank, int ndims,
				     const vm_count array_of_gsizes[],
				     const int array_of_distribs[],
				     const int array_of_dargs[],
				     const int array_of_psizes[], int order,
				     MPI_Datatype oldtype,
				     MPI_Datatype *newtype)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Type_create_darray));
	struct vm_type_recipe *recipe = NULL;
	struct vm_type *old, *type = NULL;
	int rc = check_darray(&call, ndims, array_of_gsizes, array_of_distribs,
			      array_of_dargs, array_of_psizes, order);

	if (rc == 0)
		rc = check_grid(&call, size, rank, ndims, array_of_psizes);
	if (rc == 0)
		rc = vm_check_type(&call, oldtype, &old);
	if (rc == 0)
		rc = vm_check_pointer(&call, newtype, "newtype");
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	recipe = vm_recipe_new(MPI_COMBINER_DARRAY,
			       VM_DARRAY_FIRST + 4 * (size_t)ndims + 1, 0, 1);
	if (!recipe)
		return vm_call_exit_self(&call, MPI_ERR_NO_MEM);
	recipe->large = VM_TWIN_AFTER;
	recipe->ints[VM_DARRAY_SIZE] = size;
	recipe->ints[VM_DARRAY_RANK] = rank;
	recipe->ints[VM_DARRAY_DIMS] = ndims;
	for (int i = 0; i < ndims; i++) {
		MPI_Count *ints = recipe->ints + VM_DARRAY_FIRST + i;

		ints[0] = array_of_gsizes[i];
		ints[ndims] = array_of_distribs[i];
		ints[2 * ndims] = array_of_dargs[i];
		ints[3 * ndims] = array_of_psizes[i];
	}
	recipe->ints[VM_DARRAY_FIRST + 4 * ndims] = order;
	recipe->types[0] = vm_type_hold(old);
	rc = vm_check_array(&call, old, (size_t)ndims,
			    recipe->ints + VM_DARRAY_FIRST);
	if (rc == 0)
		rc = vm_type_build(&call, &type, recipe);
	else
		vm_recipe_free(recipe);
	if (rc == 0)
		*newtype = vm_type_handle(type);
	return vm_call_exit_self(&call, rc);
}
