/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered sends: messages stored in memory that the program has attached.
 */
#ifndef MPI_P2P_BSEND_H
#define MPI_P2P_BSEND_H

#include "core/comm/p2p.h"
#include "mpi/call/state.h"

/*
 * Copies the data into the attached buffer and sends it from there; sends
 * nothing if peer is NULL (MPI_PROC_NULL).  0, MPI_ERR_BUFFER without enough
 * room, or a negative code of core.
 */
int vm_bsend(struct vm_mpi *mpi, struct vm_rank *peer, struct vm_env env,
	     const struct vm_data *data);

/* Abandons messages that were not received.  For MPI_Finalize when all ranks
 * have entered it: no receive can come, so it does not wait. */
void vm_bsend_abandon(struct vm_mpi *mpi);

#endif
