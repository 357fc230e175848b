/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI requests: an MPI_Request is a struct vm_req *.
 *
 * Persistent ones: mpi/call/persist.h.
 */
#ifndef MPI_P2P_REQUEST_H
#define MPI_P2P_REQUEST_H

#include "core/comm/p2p.h"
#include "core/local/req.h"
#include "mpi/call/call.h"
#include "mpi/call/handle.h"

/* Tells whether a request is MPI_REQUEST_NULL or inactive: it counts as
 * complete, with an empty status. */
static inline bool vm_request_is_idle(const struct vm_req *req)
{
	return vm_req_is_null(req) || (req->persistent && !req->active);
}

/* Completes a request at once, with an empty result. */
void vm_request_complete_now(struct vm_req *req, const vmpi_status *status);

/* Takes the result of a complete request that is not idle, and forgets the
 * handle unless it is persistent: 0 or an MPI error.  One that is stalled stays
 * as it is: MPIX_ERR_PROC_FAILED_PENDING. */
int vm_request_finish(struct vm_call *call, MPI_Request *request,
		      MPI_Status *status);

/* Waits for a request that no program sees, which ends if it is stalled.  May
 * switch. */
void vm_request_await(struct vm_req *req);

/* Adds who has sent how much, and the length of the buffer, to the error of a
 * receive.  Returns an MPI error; rc is a negative code of core. */
int vm_error_truncated(struct vm_call *call, int rc, const vmpi_status *status);

/* Returns MPI_ERR_REQUEST for invalid handles, as far as they can be
 * recognised. */
int vm_check_request(struct vm_call *call, const struct vm_req *req);

/* Checks a count and an array of requests, each of them too. */
int vm_check_requests(struct vm_call *call, int count,
		      const MPI_Request *requests);

#endif
