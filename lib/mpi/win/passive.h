/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks that an access takes.
 */
#ifndef MPI_WIN_PASSIVE_H
#define MPI_WIN_PASSIVE_H

#include "mpi/win/object/win.h"

/* Locks a member in an epoch of MPI_Win_lock_all: 0 or a negative code of core.
 * May switch. */
int vm_win_lock_shared(struct vm_win *win, int rank);

#endif
