/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results of operations that did nothing.
 */
#include "mpi/call/status.h"

const vmpi_status vm_status_empty = { .source = MPI_ANY_SOURCE,
				      .tag = MPI_ANY_TAG };
const vmpi_status vm_status_proc_null = { .source = MPI_PROC_NULL,
					  .tag = MPI_ANY_TAG };
