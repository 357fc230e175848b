/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives among members in several processes.
 *
 * The leader of each process (core/far.h) sends to the others what their
 * members need of what its own send, with the calls that these make.  For each
 * member of another process there is then a stand-in, a struct vm_coll that
 * sends what has come; with these the kinds' functions find a meeting like any
 * other, and results are the same as in one process.
 */
#ifndef MPI_COLL_FAR_H
#define MPI_COLL_FAR_H

#include "mpi/coll.h"

/* A meeting of all members: those that are here and stand-ins. */
struct vm_coll_view {
	struct vm_meet meet;
	struct vm_coll *stands;	   /* by member */
	struct vm_type *types;	   /* of stand-ins, by member */
	struct vm_far_part *parts; /* by process */
	struct vm_coll *any;	   /* of a member here */
};

/*
 * Exchanges calls and data and fills the view: 0, or a negative code of core;
 * the view is to be closed in any case.  May switch.
 */
int vm_coll_view_open(struct vm_coll_view *view, struct vm_meet *meet);

/* When the members have been found to agree: makes the stand-ins such that the
 * kinds' functions can work with them.  0 or -VMPI_ENOMEM. */
int vm_coll_view_compute(struct vm_coll_view *view);

/*
 * The elements of a reduction whose operands go to other processes at a time; 0:
 * all at once.  Otherwise the view has no operands yet, and the members have to
 * meet again for each slice.
 */
size_t vm_coll_slice(const struct vm_coll *coll);

void vm_coll_view_close(struct vm_coll_view *view, const struct vm_meet *meet);

#endif
