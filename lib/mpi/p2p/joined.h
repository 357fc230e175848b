/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One request for several operations: it is complete when all of them are.
 *
 * The operations are already started and progress like any others; a task of
 * the rank waits for them and completes the request.  No task is needed if all
 * are complete when they are joined.
 */
#ifndef MPI_P2P_JOINED_H
#define MPI_P2P_JOINED_H

#include "core/local/req.h"
#include "mpi/call/call.h"
#include "mpi/call/fortran.h"

struct vm_joined {
	struct vm_req *req; /* the request for all */
	/* Given to `over`, or else to free(), when all are complete and before
	 * the request is; or NULL. */
	void *memory;
	void (*over)(void *memory);
	int receive; /* the part whose status the request gets; -1: none */
	int count;
	struct vm_req *parts[];
};

/* Allocates an object with room for `room` parts; errors go to the handler of the
 * communicator with that context.  NULL when out of memory. */
struct vm_joined *vm_joined_new(uint32_t context, int room);

static inline void vm_joined_add(struct vm_joined *joined, struct vm_req *part)
{
	joined->parts[joined->count++] = part;
}

/* Returns the request and gives up joined. */
void vm_joined_start(struct vm_joined *joined, MPI_Request *request);

/* Completes an inactive persistent request instead, which it activates, and
 * gives up joined. */
void vm_joined_restart(struct vm_joined *joined, struct vm_req *req);

/* Waits for all parts and frees joined: 0 or the first error.  May switch. */
int vm_joined_wait(struct vm_joined *joined);

/* Cleans up when an operation could not start: cancels the receives, waits for
 * all parts and frees joined.  May switch. */
void vm_joined_give_up(struct vm_joined *joined);

/* Exchanges a request for one that completes after `end`.  A persistent one may
 * fail, which changes nothing: MPI_ERR_NO_MEM.  May switch. */
int vm_joined_around(MPI_Request *request, const struct vm_around *around);

#endif
