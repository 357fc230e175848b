/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The begin and the end of a window.
 */
#ifndef MPI_WIN_MAKE_H
#define MPI_WIN_MAKE_H

#include "mpi/win/object/win.h"

/* Checks the size of memory for a window, and the unit of displacements. */
int vm_check_win_memory(struct vm_call *call, MPI_Aint size, MPI_Aint unit);

/* Frees what a window holds, except itself. */
void vm_win_clear(struct vm_mpi *mpi, struct vm_win *win);

#endif
