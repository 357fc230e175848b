/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are not there yet: see unsupported.h.
 *
 * None of them looks at its arguments, so all are defined as functions without
 * any, under the names of those that mpi.h declares: the caller passes and
 * removes arguments on its own, on every machine that vmpi runs on.
 */
#include "mpi/call/unsupported.h"

#include "mpi/call/call.h"

static int later(enum vm_call_id id)
{
	struct vm_call call = vm_call_enter_early(id);

	return vm_call_exit_self(&call,
				 vm_error(&call, MPI_ERR_UNSUPPORTED_OPERATION,
					  "this version of vmpi does not have "
					  "it"));
}

#define DEFINE(name, body)                                      \
	int later_##name(void) __asm__("vm_entry_PMPI_" #name); \
	int later_##name(void)                                  \
	{                                                       \
		return body(VM_CALL_##name);                    \
	}

#define DEFINE_LATER(name) DEFINE(name, later)
MPI_CALLS_LATER(DEFINE_LATER)
