/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One request for several operations: it is complete when all of them are.
 *
 * The operations have started already, so they progress as any other does; a
 * task of the rank waits for them and completes the request.  If all are
 * complete when they are joined there is no task.
 */
#ifndef MPI_P2P_JOINED_H
#define MPI_P2P_JOINED_H

#include "core/local/req.h"
#include "mpi/call/call.h"

struct vm_joined {
	struct vm_req *req; /* the request for all */
	void *memory;	    /* given to free() when all are complete; or NULL */
	int receive; /* the part whose status the request gets; -1: none */
	int count;
	struct vm_req *parts[];
};

/* Room for so many parts, none yet; errors go to comm's handler.  NULL when out
 * of memory. */
struct vm_joined *vm_joined_new(const struct vm_comm *comm, int room);

static inline void vm_joined_add(struct vm_joined *joined, struct vm_req *part)
{
	joined->parts[joined->count++] = part;
}

/* Hands the request out and lets go of joined. */
void vm_joined_start(struct vm_joined *joined, MPI_Request *request);

/* The same into an inactive persistent request. */
void vm_joined_restart(struct vm_joined *joined, struct vm_req *req);

/* Waits for all and lets go of joined: 0 or the first error.  May switch. */
int vm_joined_wait(struct vm_joined *joined);

/* An operation could not start: withdraws the receives among the others, waits
 * for all, and frees joined.  May switch. */
void vm_joined_give_up(struct vm_joined *joined);

#endif
