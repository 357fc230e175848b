/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking and persistent collectives (mpi/coll): each member leaves a copy of
 * its call.
 */
#ifndef MPI_ICOLL_START_H
#define MPI_ICOLL_START_H

#include "mpi/coll/algo/run.h"

/*
 * Starts a nonblocking collective with a copy of coll: 0 with *request set, an
 * MPI error, or a negative code of core.  The copy holds all that it uses until
 * the request ends.
 */
int vm_coll_start(struct vm_call *call, const struct vm_coll *coll,
		  MPI_Request *request);

/*
 * Keeps a copy of coll for MPI_Start: 0 with an inactive *request, or an MPI
 * error (persist.c); returns the copy that a request keeps.
 */
int vm_coll_keep(struct vm_call *call, const struct vm_coll *coll,
		 MPI_Request *request);
struct vm_coll *vm_coll_kept(const struct vm_req *req);

/*
 * Hold what coll uses and the user may change or free, and let go of it:
 * datatypes, the operation, and arrays, which are copied to room for
 * vm_coll_arrays_room() bytes, aligned for any type.
 */
size_t vm_coll_arrays_room(const struct vm_coll *coll);
void vm_coll_hold(struct vm_coll *coll, void *room);
void vm_coll_let_go(const struct vm_coll *coll);

/* Starts coll, whose req is set, at a meeting of all members of chan. */
int vm_coll_leave(struct vm_coll *coll, struct vm_chan *chan);

/* Does the work of a nonblocking collective that all members have started. */
void vm_coll_started(struct vm_meet *meet);

/* Records in call why the collective of a request failed. */
void vm_coll_explain(struct vm_call *call, const struct vm_req *req);

#endif
