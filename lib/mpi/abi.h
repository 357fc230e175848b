/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table in libvmpi.so that libmpi_abi.so.1 uses: the addresses of all MPI
 * functions.
 *
 * Both libraries export the same names, so the functions of libmpi_abi cannot
 * find those of libvmpi through the dynamic linker; they jump through this
 * table.
 */
#ifndef MPI_ABI_H
#define MPI_ABI_H

#include "mpi/call/calls.h"

#define VM_ABI_CALLS_OFFSET 16

#ifndef __ASSEMBLER__
#include "base/err.h"

struct vm_abi {
	const char *version; /* of the library that the table is in */
	uint64_t count;
	void (*calls[VM_CALLS])(void); /* PMPI_..., by enum vm_call_id */
};
VM_STATIC_ASSERT(offsetof(struct vm_abi, calls) == VM_ABI_CALLS_OFFSET,
		 "abi_entries.S looks for the calls there");

extern VMPI_API const struct vm_abi vmpi_abi;
#endif

#endif
