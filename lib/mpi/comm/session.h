/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: a part of a program that uses MPI without knowing of the others,
 * with or without MPI_Init (MPI 4.1, 11.3).  All sessions of a rank share its
 * state; one is an error handler and a buffer.
 */
#ifndef MPI_COMM_SESSION_H
#define MPI_COMM_SESSION_H

#include "mpi/call/call.h"
#include "mpi/call/errh.h"

struct vm_mpi_session {
	struct vm_object object;
	struct vm_errh *errh;	/* holds a reference */
	struct vm_bsend *bsend; /* NULL: no buffer is attached */
};

static inline struct vm_mpi_session *vm_session_get(MPI_Session handle)
{
	return vm_object_of(handle, VM_MAGIC_SESSION);
}

/* Enters a call about a session, which may be wrong then: vm_call_enter_early()
 * and 0 or MPI_ERR_SESSION. */
int vm_session_enter(struct vm_call *call, enum vm_call_id id,
		     MPI_Session handle, struct vm_mpi_session **session);

/* As vm_call_exit(), with the session's handler, if there is a session. */
int vm_session_exit(struct vm_call *call, MPI_Session handle, int rc);

/* As vm_call_exit() for what is made with an error handler. */
int vm_session_exit_errh(struct vm_call *call, struct vm_errh *errh, int rc);

/* Sets the colour of all ranks in the same process set of a name as the caller,
 * the number of the first one; VMPI_UNDEFINED: there is no such set.  0 or
 * MPI_ERR_NO_MEM. */
int vm_pset_color(const char *name, int *color);

#endif
