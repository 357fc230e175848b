/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small collectives: proxies for members that other workers run.
 *
 * Small data is posted as bytes together with a key of the arguments that must
 * agree.  On other workers a proxy, a struct vm_coll that sends these bytes,
 * takes the member's place, so that the kinds' part() works as in any meeting.
 */
#ifndef MPI_COLL_ALGO_SMALL_H
#define MPI_COLL_ALGO_SMALL_H

#include "mpi/coll/coll.h"

/* Tells whether member `rank` has data for remote members in a call like
 * this. */
static inline bool vm_coll_small_sends(const struct vm_coll *like, int rank)
{
	if (!like->kind->part)
		return false;
	return !like->kind->rooted ||
	       (rank == like->root) != like->kind->gathers;
}

/* Functions for the meetings of collectives (core/meeting/meet.h): a worker posts
 * its members' data if that is small; each worker does the work of its
 * members. */
bool vm_coll_small_show(struct vm_meet *meet, struct vm_meet_worker *worker,
			struct vm_meet_post *post);
void vm_coll_small_own(struct vm_meet *meet, struct vm_meet_worker *worker,
		       void *args);

/* The same among processes, where the leader holds the meeting: its card has
 * the data of the members here.  0: all is done; VM_PENDING: the long way is
 * needed, whatever the others have; or an error.  May switch. */
int vm_coll_small_far(struct vm_meet *meet);

/* The first step of it, for a started meeting, which others need of this process:
 * whether it has been done (vm_leaders_tell()).  May switch. */
bool vm_coll_small_tell(struct vm_meet *meet);

/* Another process, whose first member is `other`, is in another call, whose key
 * has this first word: an error of all members here.  0 or a negative code. */
int vm_coll_differ_from(struct vm_meet *meet, uint64_t word, uint32_t other);

#endif
