/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generalized requests: operations that the program implements and completes;
 * its callbacks return their status.
 */
#ifndef MPI_P2P_GREQUEST_H
#define MPI_P2P_GREQUEST_H

#include "core/local/req.h"
#include "mpi/call/call.h"

/* Asks the program for the status of a complete request; status may be
 * MPI_STATUS_IGNORE.  The result is the program's. */
int vm_grequest_query(const struct vm_req *req, MPI_Status *status);

/* The same when the request is completed and freed. */
int vm_grequest_finish(struct vm_req *req, MPI_Status *status);

/* Asks the program to cancel the request. */
int vm_grequest_cancel(const struct vm_req *req);

#endif
