/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes: values that a program hangs on a communicator under keys of its
 * own, with callbacks for copies and deletions.
 */
#ifndef MPI_ATTR_H
#define MPI_ATTR_H

#include "mpi/state.h"

/* Keys the library hands out; the predefined ones of the ABI are below. */
#define VM_KEYVAL_FIRST 1024

/*
 * Calls the copy callbacks for a duplicate of the communicator `from` (a
 * handle) and collects what they give in *to.  0 or what a callback returned
 * (then nothing is left in *to).  May switch.
 */
int vm_attrs_copy(struct vm_mpi *mpi, struct vm_attrs **to, MPI_Comm from,
		  const struct vm_attrs *attrs);

/*
 * Calls the delete callbacks, the latest attribute first, and frees *attrs.
 * Stops at the first callback that fails and returns its result; what it and
 * the later ones stand for stays.  May switch.
 */
int vm_attrs_delete(struct vm_mpi *mpi, struct vm_attrs **attrs, MPI_Comm comm);

/* Frees without calling anybody. */
void vm_attrs_free(struct vm_mpi *mpi, struct vm_attrs **attrs);

#endif
