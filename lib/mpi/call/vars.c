/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables of mpi.
 */
#include "mpi/call/vars.h"

#include "base/err.h"
#include "core/rank/vars.h"

VM_CVARS_DEFINE(mpi, MPI_CVARS)

void vm_mpi_vars_add(void)
{
	/* There is room for the table of every layer. */
	if (vm_vars_add(&mpi_cvar_table) != 0)
		vm_panic("mpi: no room for the table of variables");
}

/* Registers the variables at load time: a program that embeds the library may
 * call no function of this layer before vmpi_start() reads the settings. */
static __attribute__((constructor)) void vars_announce(void)
{
	vm_core_vars_add();
	vm_mpi_vars_add();
}
