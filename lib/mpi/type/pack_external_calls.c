/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of "external32", for int and MPI_Count (mpi/call/twin.h); sizes and
 * positions are wide in both.
 */
#include "mpi/call/twin.h"
#include "mpi/type/pack_external.h"

int VM_TWIN(PMPI_Pack_external)(const char datarep[], const void *inbuf,
				vm_count incount, MPI_Datatype datatype,
				void *outbuf, MPI_Count outsize,
				MPI_Count *position)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Pack_external));
	struct vm_typed_buffer typed = { inbuf, incount, datatype };
	int rc = vm_pack_external(&call, datarep, &typed, outbuf, outsize,
				  position, true);

	return vm_call_exit_self(&call, rc);
}

int VM_TWIN(PMPI_Unpack_external)(const char datarep[], const void *inbuf,
				  MPI_Count insize, MPI_Count *position,
				  void *outbuf, vm_count outcount,
				  MPI_Datatype datatype)
{
	struct vm_call call = vm_call_enter(VM_TWIN(VM_CALL_Unpack_external));
	struct vm_typed_buffer typed = { outbuf, outcount, datatype };
	int rc = vm_pack_external(&call, datarep, &typed,
				  (void *)(uintptr_t)inbuf, insize, position,
				  false);

	return vm_call_exit_self(&call, rc);
}

int VM_TWIN(PMPI_Pack_external_size)(const char datarep[], vm_count incount,
				     MPI_Datatype datatype, MPI_Count *size)
{
	struct vm_call call =
		vm_call_enter(VM_TWIN(VM_CALL_Pack_external_size));
	int rc = vm_pack_external_size(&call, datarep, incount, datatype, size);

	return vm_call_exit_self(&call, rc);
}
