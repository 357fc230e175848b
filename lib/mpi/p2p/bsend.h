/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered sends: messages that wait in memory the program has attached.
 */
#ifndef MPI_P2P_BSEND_H
#define MPI_P2P_BSEND_H

#include "core/comm/p2p.h"
#include "mpi/call/state.h"

/*
 * Copies the data into the attached buffer and sends it from there; peer NULL
 * (MPI_PROC_NULL) sends nothing.  0, MPI_ERR_BUFFER without enough room, or a
 * core error.
 */
int vm_bsend(struct vm_mpi *mpi, struct vm_rank *peer, struct vm_env env,
	     const struct vm_data *data);

/* For MPI_Finalize, when all ranks are in it: what is not gone by now never
 * will, so nothing is waited for. */
void vm_bsend_abandon(struct vm_mpi *mpi);

#endif
