/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank has left undone when MPI ends.
 */
#ifndef MPI_P2P_PENDING_H
#define MPI_P2P_PENDING_H

#include "mpi/call/state.h"

/*
 * Logs a line for each of: receives that nothing was sent to, messages that
 * were never received, nonblocking collectives that not all ranks have started.
 * For MPI_Finalize, when all ranks are in it: nothing will change any more.
 */
void vm_pending_report(struct vm_mpi *mpi);

#endif
