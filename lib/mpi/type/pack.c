/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pack and unpack: data of any type to and from plain bytes, for int and
 * MPI_Count (mpi/call/twin.h).
 *
 * Packed data is the bytes in the order of the type map, without a header, so
 * that it can be received with the types it was packed with, and vice versa.
 */
#include "mpi/call/check.h"
#include "mpi/call/twin.h"
#include "mpi/type/type.h"

/* Takes `bytes` bytes of the packed buffer and advances the position. */
static int packed_take(struct vm_call *call, struct vm_data *packed,
		       const void *buffer, vm_count size, vm_count *position,
		       size_t bytes)
{
	if (!position)
		return vm_error(call, MPI_ERR_ARG, "position is NULL");
	if (size < 0 || *position < 0 || *position > size)
		return vm_error(call, MPI_ERR_ARG,
				"position is %lld in a packed buffer of %lld "
				"bytes",
				(long long)*position, (long long)size);
	if (bytes > (size_t)(size - *position))
		return vm_error(call, MPI_ERR_TRUNCATE,
				"%zu bytes at position %lld do not fit into a "
				"packed buffer of %lld bytes",
				bytes, (long long)*position, (long long)size);
	if (bytes && !buffer)
		return vm_error(call, MPI_ERR_BUFFER,
				"the packed buffer is NULL");
	*packed = vm_data_bytes((const char *)buffer + *position, bytes);
	return 0;
}

/* Checks the arguments that Pack and Unpack share; *data is the typed side. */
static int check_typed(struct vm_call *call, struct vm_data *data,
		       const void *buf, vm_count count, MPI_Datatype datatype,
		       MPI_Comm handle)
{
	struct vm_comm *comm;
	struct vm_type *type;
	int rc = vm_check_comm(call, handle, &comm);

	if (rc == 0)
		rc = vm_check_committed(call, datatype, &type);
	if (rc == 0)
		rc = vm_check_size(call, count, "count");
	if (rc == 0)
		rc = vm_check_buffer(call, buf, count, datatype);
	if (rc == 0)
		*data = vm_type_data(type, buf, (size_t)count);
	return rc;
}

int VM_TWIN(PMPI_Pack)(const void *inbuf, vm_count incount,
		       MPI_Datatype datatype, void *outbuf, vm_count outsize,
		       vm_count *position, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Pack));
	struct vm_data data, packed;
	int rc = check_typed(&call, &data, inbuf, incount, datatype, comm);

	if (rc == 0)
		rc = packed_take(&call, &packed, outbuf, outsize, position,
				 data.bytes);
	if (rc == 0)
		*position += (vm_count)vm_data_copy_slow(&packed, &data);
	return vm_call_exit(&call, comm, rc);
}

int VM_TWIN(PMPI_Unpack)(const void *inbuf, vm_count insize, vm_count *position,
			 void *outbuf, vm_count outcount, MPI_Datatype datatype,
			 MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Unpack));
	struct vm_data data, packed;
	int rc = check_typed(&call, &data, outbuf, outcount, datatype, comm);

	if (rc == 0)
		rc = packed_take(&call, &packed, inbuf, insize, position,
				 data.bytes);
	if (rc == 0)
		*position += (vm_count)vm_data_copy_slow(&data, &packed);
	return vm_call_exit(&call, comm, rc);
}

int VM_TWIN(PMPI_Pack_size)(vm_count incount, MPI_Datatype datatype,
			    MPI_Comm comm, vm_count *size)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Pack_size));
	struct vm_comm *object;
	struct vm_type *type;
	int rc = vm_check_comm(&call, comm, &object);

	if (rc == 0)
		rc = vm_check_type(&call, datatype, &type);
	if (rc == 0)
		rc = vm_check_pointer(&call, size, "size");
	if (rc == 0)
		rc = vm_check_size(&call, incount, "incount");
	if (rc == 0) {
		MPI_Count bytes;

		if (__builtin_mul_overflow((MPI_Count)type->size,
					   (MPI_Count)incount, &bytes))
			bytes = MPI_UNDEFINED;
		*size = vm_count_out(bytes);
	}
	return vm_call_exit(&call, comm, rc);
}
