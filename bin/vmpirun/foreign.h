/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of Open MPI's mpirun, MPICH's mpiexec and srun that mean nothing here.
 */
#ifndef VMPIRUN_FOREIGN_H
#define VMPIRUN_FOREIGN_H

#include <stddef.h>

#include "options.h"
#include "report/cli.h"

extern const struct vm_cli_foreign foreign_rows[];
extern const size_t foreign_count;

/* Notes it for the line about what has no effect, or refuses it in one line.  0
 * or -VMPI_E... */
int foreign_take(struct options *options, const struct vm_cli_foreign *row,
		 const char *value);

#endif
