/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts in a status, for int and MPI_Count (mpi/call/twin.h).
 */
#include "mpi/call/check.h"
#include "mpi/call/status.h"
#include "mpi/call/twin.h"
#include "mpi/type/type.h"

/* Returns the number of elements in the bytes; -1 if not a whole number. */
static MPI_Count whole_elements(const struct vm_type *type, MPI_Count bytes)
{
	if (type->size == 0)
		return bytes == 0 ? 0 : -1;
	if (bytes % (MPI_Count)type->size != 0)
		return -1;
	return bytes / (MPI_Count)type->size;
}

/* Checks the common arguments of Get_count and Get_elements. */
static int check_get(struct vm_call *call, const MPI_Status *status,
		     MPI_Datatype handle, struct vm_type **type,
		     const vm_count *count)
{
	int rc = vm_check_pointer(call, status, "status");

	if (rc == 0)
		rc = vm_check_type(call, handle, type);
	if (rc == 0)
		rc = vm_check_pointer(call, count, "count");
	return rc;
}

int VM_TWIN(PMPI_Get_count)(const MPI_Status *status, MPI_Datatype datatype,
			    vm_count *count)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Get_count));
	struct vm_type *type;
	int rc = check_get(&call, status, datatype, &type, count);

	if (rc == 0)
		*count = vm_count_out(whole_elements(
			type, (MPI_Count)vm_status_bytes(status)));
	return vm_call_exit_self(&call, rc);
}

int VM_TWIN(PMPI_Get_elements)(const MPI_Status *status, MPI_Datatype datatype,
			       vm_count *count)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Get_elements));
	struct vm_type *type;
	int rc = check_get(&call, status, datatype, &type, count);

	if (rc == 0)
		*count = vm_count_out(vm_type_elements(
			type, (MPI_Count)vm_status_bytes(status)));
	return vm_call_exit_self(&call, rc);
}

int VM_TWIN(PMPI_Status_set_elements)(MPI_Status *status, MPI_Datatype datatype,
				      vm_count count)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Status_set_elements));
	struct vm_type *type;
	int rc = check_get(&call, status, datatype, &type, &count);

	if (rc == 0)
		rc = vm_check_elements(&call, type, count);
	if (rc == 0)
		vm_status_set_bytes(status,
				    (uint64_t)vm_type_bytes(type, count));
	return vm_call_exit_self(&call, rc);
}
