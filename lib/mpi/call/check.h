/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Argument checks at the border.
 *
 * Each returns 0 or an MPI error after noting in call what is wrong and what
 * would be right.  With the CVAR mpi_check off only what memory safety needs is
 * checked: that handles are handles.
 */
#ifndef MPI_CALL_CHECK_H
#define MPI_CALL_CHECK_H

#include "mpi/call/call.h"
#include "mpi/call/handle.h"
#include "mpi/call/vars.h"

/* A communicator's handle; sets *comm on success.  Datatypes: mpi/type/type.h. */
int vm_check_comm(struct vm_call *call, MPI_Comm handle, struct vm_comm **comm);
/* The handle of an intracommunicator. */
int vm_check_intra(struct vm_call *call, MPI_Comm handle,
		   struct vm_comm **comm);

int vm_check_count(struct vm_call *call, MPI_Count count);
/* A count of which a negative value would lead into foreign memory; checked even
 * with mpi_check off.  name: that of the argument. */
int vm_check_size(struct vm_call *call, MPI_Count count, const char *name);

/* A destination (MPI_PROC_NULL allowed); a source (MPI_ANY_SOURCE too). */
int vm_check_dest(struct vm_call *call, const struct vm_comm *comm, int dest);
int vm_check_source(struct vm_call *call, const struct vm_comm *comm,
		    int source);
/* The tag of a send; of a receive (MPI_ANY_TAG allowed). */
int vm_check_tag(struct vm_call *call, int tag);
int vm_check_tag_or_any(struct vm_call *call, int tag);

int vm_check_root(struct vm_call *call, const struct vm_comm *comm, int root);

/* An argument that must not be NULL; `name` is its name in the standard. */
int vm_check_pointer(struct vm_call *call, const void *pointer,
		     const char *name);

#endif
