/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared file pointers.
 *
 * In one process it is a word that all members add to; of several processes it
 * lies in a window, at member 0.
 */
#ifndef MPI_IO_POINTER_H
#define MPI_IO_POINTER_H

#include "mpi/io/file.h"

/* Collective, on the communicator of the file: makes the pointer, which begins
 * at an etype; and frees it.  0 or an MPI error.  May switch. */
int vm_pointer_init(struct vm_call *call, struct vm_file *file, MPI_Comm comm,
		    MPI_Offset first);
void vm_pointer_fini(struct vm_call *call, struct vm_file *file);

/* Moves the pointer on, by 0 or more; *before is where it was.  May switch. */
int vm_pointer_move(struct vm_call *call, struct vm_file *file, MPI_Offset more,
		    MPI_Offset *before);

/* Sets it, while no member uses it.  May switch. */
int vm_pointer_set(struct vm_call *call, struct vm_file *file, MPI_Offset to);

/*
 * Collective: all members move the pointer in the order of their ranks, each by
 * `more`; *before is where it was for the caller.  rc: the caller's error, which
 * it gets back.  as: the call, of both twins the first.  May switch.
 */
int vm_pointer_order(struct vm_call *call, enum vm_call_id as,
		     struct vm_file *file, MPI_Offset more, int rc,
		     MPI_Offset *before);

#endif
