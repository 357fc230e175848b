/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two sides of different jobs get to know each other, before they make an
 * intercommunicator.
 */
#ifndef MPI_COMM_FAR_H
#define MPI_COMM_FAR_H

#include "mpi/call/check.h"
#include "mpi/comm/inter.h"

/*
 * Makes the processes of both sides known to each other: called by all members
 * of `local`; `talk` is the leader's.  The leader gets both sides, to be freed,
 * or one with an error; the others NULL.  0, or an error after which there is
 * nothing to be told.  May switch.
 */
int vm_far_meet(struct vm_call *call, const struct vm_comm *local, int leader,
		const struct vm_talk *talk, struct vm_inter_both **both);

#endif
