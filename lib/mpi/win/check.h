/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether an access is allowed, and where it goes.  An epoch of
 * MPI_Win_lock_all locks the target first, if it is in another process.
 */
#ifndef MPI_WIN_CHECK_H
#define MPI_WIN_CHECK_H

#include "mpi/win/object/access.h"

/* Check a put or get, and what updates elements.  0 or an MPI error; the place
 * is not set if the target is MPI_PROC_NULL.  May switch. */
int vm_access_check_copy(struct vm_call *call, struct vm_access *access);
int vm_access_check_update(struct vm_call *call, struct vm_access *access);

/* Check the target of an access to one element of a type; and the operation,
 * when the type is known.  The first may switch. */
int vm_access_check_one(struct vm_call *call, struct vm_access *access);
int vm_access_check_op(struct vm_call *call, struct vm_access *access);

/* Ends an entry: gives the caller a request that is complete, if it wants one,
 * and lets others run now and then.  May switch. */
int vm_access_end(struct vm_call *call, const struct vm_access *access, int rc);

#endif
