/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of datatype arguments.
 */
#include "mpi/call/check.h"
#include "mpi/type/build.h"

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

int vm_check_type_of(struct vm_call *call, MPI_Datatype handle, bool any,
		     struct vm_type **type)
{
	if (VM_LIKELY(any || handle != MPI_DATATYPE_NULL))
		return vm_check_committed(call, handle, type);
	*type = vm_type_of_buffer(handle);
	return 0;
}

int vm_check_bytes(struct vm_call *call, const struct vm_type *type,
		   MPI_Count count, MPI_Count blocks)
{
	MPI_Count bytes;

	if (VM_LIKELY(!__builtin_mul_overflow(count, (MPI_Count)type->size,
					      &bytes) &&
		      !__builtin_mul_overflow(bytes, blocks, &bytes)))
		return 0;
	return vm_error(call, MPI_ERR_COUNT,
			"%lld elements of %zu bytes are more than there are "
			"addresses",
			(long long)count, type->size);
}

int vm_check_elements(struct vm_call *call, const struct vm_type *type,
		      MPI_Count elements)
{
	MPI_Count each = type->elements;
	int rc = vm_check_count(call, elements);

	if (rc != 0 || elements == 0)
		return rc;
	if (each == 0)
		return vm_error(call, MPI_ERR_COUNT,
				"the datatype is empty, but count is %lld",
				(long long)elements);
	/* One more for a part of an element at the end. */
	return vm_check_bytes(call, type,
			      elements / each + (elements % each != 0), 1);
}

int vm_check_buffer(struct vm_call *call, const void *buf, MPI_Count count,
		    MPI_Datatype handle)
{
	struct vm_type *type;
	int rc = vm_check_count(call, count);

	if (rc == 0 && count == 0 && handle == MPI_DATATYPE_NULL)
		return 0;
	if (rc == 0)
		rc = vm_check_committed(call, handle, &type);
	if (rc == 0 && count > 0)
		rc = vm_check_bytes(call, type, count, 1);
	if (rc != 0 || buf || count == 0 || !mpi_cvar.check)
		return rc;
	/* MPI_BOTTOM is NULL: right with a type that holds addresses. */
	if (type->builtin && type->size != 0)
		return vm_error(call, MPI_ERR_BUFFER,
				"the buffer is NULL and count is %lld",
				(long long)count);
	return 0;
}

int vm_check_array(struct vm_call *call, const struct vm_type *old,
		   size_t ndims, const MPI_Count sizes[])
{
	vm_wide extent = old->extent < 0 ? -(vm_wide)old->extent : old->extent;
	vm_wide bytes = old->size;

	if (extent > bytes)
		bytes = extent;
	if (!bytes)
		bytes = 1;
	for (size_t i = 0; i < ndims; i++) {
		bytes *= sizes[i];
		if (bytes > PTRDIFF_MAX)
			return vm_error(call, MPI_ERR_ARG,
					"the array would be larger than the "
					"address space");
	}
	return 0;
}
