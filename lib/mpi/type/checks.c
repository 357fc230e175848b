/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of datatype arguments.
 */
#include "mpi/call/check.h"
#include "mpi/type/type.h"

int vm_check_type(struct vm_call *call, MPI_Datatype handle,
		  struct vm_type **type)
{
	*type = vm_type_get(handle);
	if (*type)
		return 0;
	if (handle == MPI_DATATYPE_NULL)
		return vm_error(call, MPI_ERR_TYPE, "MPI_DATATYPE_NULL");
	return vm_error(call, MPI_ERR_TYPE,
			"%p is not a datatype, or it was freed",
			(void *)handle);
}

int vm_check_committed(struct vm_call *call, MPI_Datatype handle,
		       struct vm_type **type)
{
	int rc = vm_check_type(call, handle, type);

	if (rc == 0 && mpi_cvar.check && !(*type)->committed)
		rc = vm_error(call, MPI_ERR_TYPE,
			      "the datatype is not committed");
	return rc;
}

int vm_check_buffer(struct vm_call *call, const void *buf, MPI_Count count,
		    MPI_Datatype handle)
{
	struct vm_type *type;
	int rc = vm_check_count(call, count);

	if (rc == 0)
		rc = vm_check_committed(call, handle, &type);
	if (rc != 0 || buf || count == 0 || !mpi_cvar.check)
		return rc;
	/* MPI_BOTTOM is NULL: right with a type that holds addresses. */
	if (type->builtin && type->size != 0)
		return vm_error(call, MPI_ERR_BUFFER,
				"the buffer is NULL and count is %lld",
				(long long)count);
	return 0;
}
