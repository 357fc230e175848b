/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of all MPI functions.
 */
#include "mpi/abi.h"

/* One type for all functions: only their addresses are used. */
#define DECLARE(name, ...) void entry_##name(void) __asm__("PMPI_" #name);
MPI_CALLS(DECLARE)

const struct vm_abi vmpi_abi = {
	.version = VM_VERSION,
	.count = VM_CALLS,
	.calls = {
#define ADDRESS(name, ...) [VM_CALL_##name] = entry_##name,
		MPI_CALLS(ADDRESS)
	},
};
