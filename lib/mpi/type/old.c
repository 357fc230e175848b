/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Constructors and bounds of datatypes under the names that they had in MPI-1.
 */
#include "mpi/call/check.h"
#include "mpi/type/type.h"

int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride,
		      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	return PMPI_Type_create_hvector(count, blocklength, stride, oldtype,
					newtype);
}

int PMPI_Type_hindexed(int count, int array_of_blocklengths[],
		       MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
		       MPI_Datatype *newtype)
{
	return PMPI_Type_create_hindexed(count, array_of_blocklengths,
					 array_of_displacements, oldtype,
					 newtype);
}

int PMPI_Type_struct(int count, int array_of_blocklengths[],
		     MPI_Aint array_of_displacements[],
		     MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
	return PMPI_Type_create_struct(count, array_of_blocklengths,
				       array_of_displacements, array_of_types,
				       newtype);
}

/* Two numbers about a type; either output may be one the call has not. */
static int query(struct vm_call *call, MPI_Datatype datatype, MPI_Aint *lb,
		 const char *lb_name, MPI_Aint *extent, const char *extent_name)
{
	struct vm_type *type;
	int rc = vm_check_type(call, datatype, &type);

	if (rc == 0 && lb_name)
		rc = vm_check_pointer(call, lb, lb_name);
	if (rc == 0 && extent_name)
		rc = vm_check_pointer(call, extent, extent_name);
	if (rc == 0 && lb_name)
		*lb = type->lb;
	if (rc == 0 && extent_name)
		*extent = type->extent;
	return vm_call_exit_self(call, rc);
}

int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_extent);

	return query(&call, datatype, NULL, NULL, extent, "extent");
}

int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_lb);

	return query(&call, datatype, displacement, "displacement", NULL, NULL);
}

int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_ub);
	struct vm_type *type;
	int rc = vm_check_type(&call, datatype, &type);

	if (rc == 0)
		rc = vm_check_pointer(&call, displacement, "displacement");
	if (rc == 0)
		*displacement = type->lb + type->extent;
	return vm_call_exit_self(&call, rc);
}
