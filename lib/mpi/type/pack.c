/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pack and unpack: data of any type to and from plain bytes.
 *
 * Packed data is the bytes in the order of the type map, without a header, so
 * that it can be received with the types it was packed with, and vice versa.
 */
#include <limits.h>

#include "mpi/call/check.h"
#include "mpi/type/type.h"

/* Takes `bytes` bytes of the packed buffer and advances the position. */
static int packed_take(struct vm_call *call, struct vm_data *packed,
		       const void *buffer, int size, int *position,
		       size_t bytes)
{
	if (!position)
		return vm_error(call, MPI_ERR_ARG, "position is NULL");
	if (size < 0 || *position < 0 || *position > size)
		return vm_error(call, MPI_ERR_ARG,
				"position is %d in a packed buffer of %d bytes",
				*position, size);
	if (bytes > (size_t)(size - *position))
		return vm_error(call, MPI_ERR_TRUNCATE,
				"%zu bytes at position %d do not fit into a "
				"packed buffer of %d bytes",
				bytes, *position, size);
	if (bytes && !buffer)
		return vm_error(call, MPI_ERR_BUFFER,
				"the packed buffer is NULL");
	*packed = vm_data_bytes((const char *)buffer + *position, bytes);
	return 0;
}

/* Checks the arguments that Pack and Unpack share; *data is the typed side. */
static int check_typed(struct vm_call *call, struct vm_data *data,
		       const void *buf, int count, MPI_Datatype datatype,
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

int PMPI_Pack(const void *inbuf, int incount, MPI_Datatype datatype,
	      void *outbuf, int outsize, int *position, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Pack);
	struct vm_data data, packed;
	int rc = check_typed(&call, &data, inbuf, incount, datatype, comm);

	if (rc == 0)
		rc = packed_take(&call, &packed, outbuf, outsize, position,
				 data.bytes);
	if (rc == 0)
		*position += (int)vm_data_copy_slow(&packed, &data);
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf,
		int outcount, MPI_Datatype datatype, MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Unpack);
	struct vm_data data, packed;
	int rc = check_typed(&call, &data, outbuf, outcount, datatype, comm);

	if (rc == 0)
		rc = packed_take(&call, &packed, inbuf, insize, position,
				 data.bytes);
	if (rc == 0)
		*position += (int)vm_data_copy_slow(&data, &packed);
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
	struct vm_call call = vm_call_enter(VM_CALL_Pack_size);
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
		size_t bytes = type->size * (size_t)incount;

		*size = bytes > INT_MAX ? MPI_UNDEFINED : (int)bytes;
	}
	return vm_call_exit(&call, comm, rc);
}
