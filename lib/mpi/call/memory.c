/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory and addresses.
 */
#include <stdlib.h>

#include "mpi/call/check.h"
#include "mpi/call/info.h"

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
	struct vm_call call = vm_call_enter(VM_CALL_Alloc_mem);
	void *memory = NULL;
	size_t align = VM_CACHELINE, wanted;
	int rc = vm_check_pointer(&call, baseptr, "baseptr");

	if (rc == 0)
		rc = vm_check_hints(&call, info);
	if (rc == 0 && size < 0)
		rc = vm_error(&call, MPI_ERR_ARG, "size %lld is negative",
			      (long long)size);
	if (rc == 0) {
		wanted = vm_info_alignment(info, PTRDIFF_MAX);
		align = wanted > align ? wanted : align;
	}
	if (rc == 0 && size > 0 &&
	    posix_memalign(&memory, align, (size_t)size) != 0)
		rc = vm_error(&call, MPI_ERR_NO_MEM, "%lld bytes",
			      (long long)size);
	if (rc == 0)
		*(void **)baseptr = memory;
	return vm_call_exit_self(&call, rc);
}

int PMPI_Free_mem(void *base)
{
	struct vm_call call = vm_call_enter(VM_CALL_Free_mem);

	free(base);
	return vm_call_exit_self(&call, MPI_SUCCESS);
}

int PMPI_Get_address(const void *location, MPI_Aint *address)
{
	struct vm_call call = vm_call_enter(VM_CALL_Get_address);
	int rc = vm_check_pointer(&call, address, "address");

	if (rc == 0)
		*address = (MPI_Aint)location;
	return vm_call_exit_self(&call, rc);
}

int PMPI_Address(void *location, MPI_Aint *address)
{
	struct vm_call call = vm_call_enter(VM_CALL_Address);
	int rc = vm_check_pointer(&call, address, "address");

	if (rc == 0)
		*address = (MPI_Aint)location;
	return vm_call_exit_self(&call, rc);
}

/* Unsigned, so that a wrap around is defined. */
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
	return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
	return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}
