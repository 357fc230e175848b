/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered sends: messages stored in memory that the program has attached to
 * the rank, a communicator or a session (buffer.c), or that is allocated
 * (MPI_BUFFER_AUTOMATIC).
 */
#ifndef MPI_P2P_BSEND_H
#define MPI_P2P_BSEND_H

#include "core/comm/p2p.h"
#include "mpi/call/call.h"

/* An attached buffer. */
struct vm_bsend;

/* NULL when out of memory. */
struct vm_bsend *vm_bsend_new(void *buffer, size_t bytes);

/* What was attached: its address and length. */
void *vm_bsend_buffer(const struct vm_bsend *bsend, MPI_Count *bytes);

/* The buffer for messages on comm: its own, that of its session, or the
 * rank's; NULL: there is none. */
struct vm_bsend *vm_bsend_of(struct vm_mpi *mpi, const struct vm_comm *comm);

/*
 * Copies the data into the buffer and sends it from there; sends nothing if
 * peer is NULL (MPI_PROC_NULL).  0, MPI_ERR_BUFFER without enough room, or a
 * negative code of core.  Any task of the rank may call it.
 */
int vm_bsend(struct vm_bsend *bsend, struct vm_rank *peer, struct vm_env env,
	     const struct vm_data *data);

/* Does the work of a call that sends so: 0 or an error. */
int vm_bsend_call(struct vm_call *call, const void *buf, MPI_Count count,
		  MPI_Datatype type, int dest, int tag, MPI_Comm comm);

/* Sets *req to a request that completes when all messages that are in the
 * buffer now have been sent: 0 or MPI_ERR_NO_MEM. */
int vm_bsend_flush(struct vm_bsend *bsend, struct vm_req **req);

/* Waits until all messages are sent, and detaches: *slot is where the buffer is
 * attached; it may be NULL.  0 or MPI_ERR_NO_MEM.  May switch. */
int vm_bsend_end(struct vm_bsend **slot);

/* The same for the buffers of the rank and of all communicators. */
int vm_bsend_end_all(struct vm_mpi *mpi);

/* Abandons messages that were not received, and detaches all buffers.  For
 * MPI_Finalize when all ranks have entered it: no receive can come, so it does
 * not wait. */
void vm_bsend_abandon(struct vm_mpi *mpi);

#endif
