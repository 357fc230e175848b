/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Report of a rank's incomplete operations in MPI_Finalize.
 */
#ifndef MPI_P2P_PENDING_H
#define MPI_P2P_PENDING_H

#include "mpi/call/state.h"

/*
 * Logs a line each for receives without a message, messages that were not
 * received, and nonblocking collectives that not all ranks have started.  For
 * MPI_Finalize when all ranks have entered it, so that nothing can change.
 */
void vm_pending_report(struct vm_mpi *mpi);

#endif
