/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Size and bounds of a datatype, for int and MPI_Count (mpi/call/twin.h); bounds
 * are wide in both.
 */
#include "mpi/call/check.h"
#include "mpi/call/twin.h"
#include "mpi/type/type.h"

int VM_TWIN(PMPI_Type_size)(MPI_Datatype datatype, vm_count *size)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Type_size));
	struct vm_type *type;
	int rc = vm_check_type(&call, datatype, &type);

	if (rc == 0)
		rc = vm_check_pointer(&call, size, "size");
	if (rc == 0)
		*size = vm_count_out((MPI_Count)type->size);
	return vm_call_exit_self(&call, rc);
}

int VM_TWIN(PMPI_Type_get_extent)(MPI_Datatype datatype, MPI_Count *lb,
				  MPI_Count *extent)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Type_get_extent));
	struct vm_type *type;
	int rc = vm_check_type(&call, datatype, &type);

	if (rc == 0)
		rc = vm_check_pointer(&call, lb, "lb");
	if (rc == 0)
		rc = vm_check_pointer(&call, extent, "extent");
	if (rc == 0) {
		*lb = type->lb;
		*extent = type->extent;
	}
	return vm_call_exit_self(&call, rc);
}

int VM_TWIN(PMPI_Type_get_true_extent)(MPI_Datatype datatype,
				       MPI_Count *true_lb,
				       MPI_Count *true_extent)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Type_get_true_extent));
	struct vm_type *type;
	int rc = vm_check_type(&call, datatype, &type);

	if (rc == 0)
		rc = vm_check_pointer(&call, true_lb, "true_lb");
	if (rc == 0)
		rc = vm_check_pointer(&call, true_extent, "true_extent");
	if (rc == 0) {
		*true_lb = type->true_lb;
		*true_extent = type->true_extent;
	}
	return vm_call_exit_self(&call, rc);
}
