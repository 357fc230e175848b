/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A check in libmpi_abi.so.1 that libvmpi.so is of the same version, since both
 * must index the same table.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mpi/abi.h"

static __attribute__((constructor)) void check(void)
{
	if (vmpi_abi.count == VM_CALLS &&
	    strcmp(vmpi_abi.version, VM_VERSION) == 0)
		return;
	fprintf(stderr,
		"libmpi_abi.so.1 of vmpi %s with %d functions found the "
		"libvmpi.so of vmpi %s with %d; install both together\n",
		VM_VERSION, VM_CALLS, vmpi_abi.version, (int)vmpi_abi.count);
	_exit(2);
}
