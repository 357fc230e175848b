/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The phase RUNNING of a rank: from MPI_Init to the end of MPI_Finalize, and
 * while there are sessions.
 *
 * The state itself exists before and after that (mpi/call/state.h).
 */
#ifndef MPI_PHASE_H
#define MPI_PHASE_H

#include "mpi/call/state.h"

/* Keep other threads of the rank from beginning or ending the phase.  The first
 * may switch. */
void vm_mpi_turn_begin(struct vm_mpi *mpi);
void vm_mpi_turn_end(struct vm_mpi *mpi);

/* Begins the phase. */
void vm_mpi_start(struct vm_mpi *mpi, int thread_level);

/* Frees the objects of the phase and ends it. */
void vm_mpi_stop(struct vm_mpi *mpi);

#endif
