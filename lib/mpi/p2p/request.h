/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests as MPI sees them: MPI_Request is a struct vm_req *.
 *
 * Persistent ones: mpi/call/persist.h.
 */
#ifndef MPI_P2P_REQUEST_H
#define MPI_P2P_REQUEST_H

#include "core/comm/p2p.h"
#include "core/local/req.h"
#include "mpi/call/call.h"
#include "mpi/call/handle.h"

/* Complete with nothing to tell: MPI_REQUEST_NULL or not started. */
static inline bool vm_request_is_idle(const struct vm_req *req)
{
	return vm_req_is_null(req) || (req->persistent && !req->active);
}

/* Makes a request complete on the spot, with an empty result. */
void vm_request_complete_now(struct vm_req *req, const vmpi_status *status);

/* Adds to the error of a receive how long its buffer was.  Returns an MPI
 * error; rc is a negative code of core. */
int vm_error_truncated(struct vm_call *call, int rc, size_t bytes);

/* MPI_ERR_REQUEST for what is no request, as far as that can be seen. */
int vm_check_request(struct vm_call *call, const struct vm_req *req);

/* MPI_ERR_ARG etc. for a count and an array of requests; checks each. */
int vm_check_requests(struct vm_call *call, int count,
		      const MPI_Request *requests);

#endif
