/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The info keys of MPI_Comm_spawn (MPI 4.1, 11.8.4).
 */
#ifndef MPI_DYNAMIC_SPAWN_INFO_H
#define MPI_DYNAMIC_SPAWN_INFO_H

#include "mpi/call/call.h"

/* Checks those that say where ranks are to run: 0, MPI_ERR_INFO, or
 * MPI_ERR_SPAWN: not there. */
int vm_spawn_check_place(struct vm_call *call, MPI_Info info);

/* Returns the largest number, at most `most`, of ranks that the caller is
 * content with, who has asked for more; -1: there is none. */
int vm_spawn_soft(MPI_Info info, int most);

#endif
