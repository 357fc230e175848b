/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables of mpi.
 */
#include "mpi/vars.h"

#include "base/err.h"

VM_CVARS_DEFINE(mpi, MPI_CVARS)

void vm_mpi_vars_add(void)
{
	/* There is room for the table of every layer. */
	if (vm_vars_add(&mpi_cvar_table) != 0)
		vm_panic("mpi: no room for the table of variables");
}
