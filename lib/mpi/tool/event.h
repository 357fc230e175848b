/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations shared by the files of MPI_T's events.
 */
#ifndef MPI_TOOL_EVENT_H
#define MPI_TOOL_EVENT_H

#include "mpi.h"

/* Creates an info without hints, of which this library has none; MPI_INFO_NULL
 * if the caller is not a rank. info may be NULL. MPI_SUCCESS or
 * MPI_T_ERR_MEMORY. */
int vm_tool_info(MPI_Info *info);

#endif
