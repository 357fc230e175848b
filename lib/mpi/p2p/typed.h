/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comparison of the types at both ends of a message (mpi_check_types).
 *
 * A send leaves the signature of its data (mpi/type/signature.h) in the task,
 * and core carries it along; a receive keeps the type of its buffer in the
 * request and compares when it is complete.  While that is off, no message
 * comes here: none is plain (mpi/p2p/route.h).
 */
#ifndef MPI_P2P_TYPED_H
#define MPI_P2P_TYPED_H

#include "core/local/req.h"
#include "mpi/call/call.h"
#include "mpi/call/vars.h"
#include "mpi/type/type.h"

static inline bool vm_typed(void)
{
	return VM_UNLIKELY(mpi_cvar.check_types != 0);
}

/* The calling task sends count elements of type next. */
void vm_typed_send(const struct vm_type *type, size_t count);

/* The receive goes to count elements of type; its own user and on_free are not
 * set.  0 or MPI_ERR_NO_MEM, and the request is given up. */
int vm_typed_receive(struct vm_req *req, struct vm_type *type, size_t count);

/* Compares what a complete receive got with the type it has been given: 0 or
 * MPI_ERR_TYPE; call may be NULL. */
int vm_typed_compare(struct vm_call *call, const struct vm_req *req);

#endif
