/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of MPI_T's events share.
 */
#ifndef MPI_TOOL_EVENT_H
#define MPI_TOOL_EVENT_H

#include "mpi.h"

/* A new info without hints, of which this library has none; MPI_INFO_NULL for
 * who is no rank.  MPI_SUCCESS, also without a place for it, or
 * MPI_T_ERR_MEMORY. */
int vm_tool_info(MPI_Info *info);

#endif
