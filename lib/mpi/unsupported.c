/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are not there yet: see unsupported.h.
 */
#include "mpi/unsupported.h"

#include "mpi/call.h"

static int unsupported(enum vm_call_id id)
{
	struct vm_call call = vm_call_enter(id);

	return vm_call_exit_self(&call,
				 vm_error(&call, MPI_ERR_UNSUPPORTED_OPERATION,
					  "this version of vmpi does not have "
					  "it"));
}

#define UNSUPPORTED(name, arguments)                \
	int PMPI_##name arguments                   \
	{                                           \
		return unsupported(VM_CALL_##name); \
	}
MPI_CALLS_UNSUPPORTED(UNSUPPORTED)

MPI_CALLS_UNSUPPORTED(WEAK_ALIAS)
