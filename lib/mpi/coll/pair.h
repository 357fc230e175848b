/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short collectives in one direction between two members on two workers of a
 * process, as straight code (core/meeting/meet_pair.h): who has nothing to learn
 * leaves its data and goes on.
 */
#ifndef MPI_COLL_PAIR_H
#define MPI_COLL_PAIR_H

#include "mpi/coll/coll.h"

/* Does a call for its member: 0, or VM_PENDING: the usual way is needed, whose
 * members bring `last`.  May switch. */
int vm_coll_pair(struct vm_coll *coll, const struct vm_chan *chan,
		 vm_meet_last last);

/* The other member is in another call, and has gone: an error of this one.  false:
 * it has not gone, or not from a collective. */
bool vm_coll_pair_differs(struct vm_coll *coll, const struct vm_chan *chan,
			  vm_meet_last last);

#endif
