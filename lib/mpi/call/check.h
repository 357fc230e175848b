/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Argument checks at the border.
 *
 * Each returns 0, or an MPI error after recording in call what is wrong and
 * what is allowed.  If the CVAR mpi_check is off, only what memory safety
 * requires is checked: that handles are valid.
 */
#ifndef MPI_CALL_CHECK_H
#define MPI_CALL_CHECK_H

#include "mpi/call/call.h"
#include "mpi/call/handle.h"
#include "mpi/call/vars.h"

/* Checks a communicator's handle; sets *comm on success.  Datatypes:
 * mpi/type/type.h. */
int vm_check_comm(struct vm_call *call, MPI_Comm handle, struct vm_comm **comm);
/* Checks the handle of an intracommunicator. */
int vm_check_intra(struct vm_call *call, MPI_Comm handle,
		   struct vm_comm **comm);

/* The same, of ranks that are to share memory of their process. */
int vm_check_together(struct vm_call *call, MPI_Comm handle,
		      struct vm_comm **comm);

int vm_check_count(struct vm_call *call, MPI_Count count);
/* Checks a count whose negative values would cause accesses out of bounds, even
 * with mpi_check off.  name: the argument's. */
int vm_check_size(struct vm_call *call, MPI_Count count, const char *name);

/* Check a destination (MPI_PROC_NULL allowed) or a source (MPI_ANY_SOURCE also
 * allowed). */
int vm_check_dest(struct vm_call *call, const struct vm_comm *comm, int dest);
int vm_check_source(struct vm_call *call, const struct vm_comm *comm,
		    int source);
/* Check the tag of a send, or of a receive (MPI_ANY_TAG allowed). */
int vm_check_tag(struct vm_call *call, int tag);
int vm_check_tag_or_any(struct vm_call *call, int tag);

int vm_check_root(struct vm_call *call, const struct vm_comm *comm, int root);

/* Checks an argument that must not be NULL; `name` is its name in the
 * standard. */
int vm_check_pointer(struct vm_call *call, const void *pointer,
		     const char *name);

/* Sets the handle of a communicator that is to be made, which a call that fails
 * leaves so; NULL is found later. */
static inline void vm_comm_none(MPI_Comm *comm)
{
	if (comm)
		*comm = MPI_COMM_NULL;
}

#endif
