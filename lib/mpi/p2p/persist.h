/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent messages: what the calls MPI_Send_init etc. do.
 *
 * Each makes an inactive request: 0, an MPI error or a negative code of core.
 */
#ifndef MPI_P2P_PERSIST_H
#define MPI_P2P_PERSIST_H

#include "core/comm/p2p.h"
#include "mpi/call/call.h"

int vm_persist_send(struct vm_call *call, MPI_Request *request,
		    enum vm_send_mode mode, const void *buf, MPI_Count count,
		    MPI_Datatype type, int dest, int tag, MPI_Comm comm);
int vm_persist_bsend(struct vm_call *call, MPI_Request *request,
		     const void *buf, MPI_Count count, MPI_Datatype type,
		     int dest, int tag, MPI_Comm comm);
int vm_persist_recv(struct vm_call *call, MPI_Request *request, void *buf,
		    MPI_Count count, MPI_Datatype type, int source, int tag,
		    MPI_Comm comm);

#endif
