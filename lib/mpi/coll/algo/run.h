/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running collectives: begin here.  Short ones of a process are in small.h, those
 * among processes in hier.h.
 */
#ifndef MPI_COLL_ALGO_RUN_H
#define MPI_COLL_ALGO_RUN_H

#include "mpi/coll/coll.h"

/* Count a collective when its rank begins it, and its algorithm when it has
 * ended; any thread may do the latter.  context: its communicator's. */
void vm_coll_begin(struct vm_coll *coll, uint32_t context);
void vm_coll_went(const struct vm_coll *coll, uint32_t context);

/* Runs a blocking collective: meets the other members and does the work: 0 or
 * an MPI error.  May switch. */
int vm_coll_run(struct vm_call *call, struct vm_coll *coll);

/* Compares the calls of all members and does all their work.  One of them runs
 * it: the last to start if the collective is nonblocking. */
void vm_coll_arrived(struct vm_meet *meet);

#endif
