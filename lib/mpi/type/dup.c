/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of datatypes.
 */
#include "mpi/call/attr.h"
#include "mpi/call/check.h"
#include "mpi/type/build.h"

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_dup);
	struct vm_type_recipe *recipe = NULL;
	struct vm_type_extra *from;
	struct vm_type *type = NULL;
	struct vm_type *old;
	int rc = vm_check_pointer(&call, newtype, "newtype");

	if (rc == 0)
		rc = vm_check_type(&call, oldtype, &old);
	if (rc == 0) {
		recipe = vm_recipe_new(MPI_COMBINER_DUP, 0, 0, 1);
		rc = recipe ? 0 : MPI_ERR_NO_MEM;
	}
	if (rc == 0)
		recipe->types[0] = vm_type_hold(old);
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
	else {
		/* An attribute's function has refused. */
		*newtype = MPI_DATATYPE_NULL;
		vm_type_drop(type);
	}
	return vm_call_exit_self(&call, rc);
}
