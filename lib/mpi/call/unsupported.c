/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are not implemented: see unsupported.h.
 *
 * They ignore their arguments, so all are defined without parameters, under the
 * names that mpi.h declares: on all supported architectures the caller passes
 * and removes the arguments.
 */
#include "mpi/call/unsupported.h"

#include "mpi/call/call.h"

static __attribute__((unused)) int later(enum vm_call_id id)
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
MPI_CALLS_UNSUPPORTED(DEFINE_LATER)
