/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generalized requests: operations that the program implements and completes;
 * its callbacks return their status.
 */
#ifndef MPI_P2P_GREQUEST_H
#define MPI_P2P_GREQUEST_H

#include "core/local/req.h"
#include "mpi/call/call.h"

/* How a request is asked and ended: by functions of the program's, or of the
 * library itself, whose last two are set. */
struct vm_grequest {
	MPI_Grequest_query_function *query;
	MPI_Grequest_free_function *free; /* NULL: was called */
	MPI_Grequest_cancel_function *cancel;
	void *extra_state;
	/* Called instead of query when the request is completed: records what
	 * is wrong, too. */
	int (*end)(struct vm_call *call, void *extra_state, MPI_Status *status);
	/* Passes an error on to the error handler of an object. */
	int (*fail)(struct vm_call *call, void *object, int rc);
	void *object;
};

/* Returns a request that is asked and ended so, pending; NULL: no memory.
 * vm_req_complete() completes it. */
struct vm_req *vm_grequest_new(const struct vm_grequest *how);

/* Asks the program for the status of a complete request; status may be
 * MPI_STATUS_IGNORE.  The result is the program's. */
int vm_grequest_query(const struct vm_req *req, MPI_Status *status);

/* The same when the request is completed and freed. */
int vm_grequest_finish(struct vm_call *call, struct vm_req *req,
		       MPI_Status *status);

/* Asks the program to cancel the request. */
int vm_grequest_cancel(const struct vm_req *req);

static inline const struct vm_grequest *vm_grequest_of(const struct vm_req *req)
{
	return req->user;
}

#endif
