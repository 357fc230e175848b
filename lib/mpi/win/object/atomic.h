/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Updates of elements in a window, each of them atomic (MPI 4.1, 12.7.1).
 *
 * One element of 1, 2, 4 or 8 bytes at an address that its size divides is
 * updated by an instruction; any other, and several at a time, under a lock of
 * the window: programs rely on several bytes that are stored by one call being
 * read together.  In memory that processes share all are.
 */
#ifndef MPI_WIN_OBJECT_ATOMIC_H
#define MPI_WIN_OBJECT_ATOMIC_H

#include "core/window/window.h"
#include "mpi/op/op.h"
#include "mpi/type/type.h"

struct vm_atomic {
	const struct vm_op *op;		 /* predefined */
	const struct vm_type *type;	 /* predefined */
	struct vm_window_common *common; /* of the member whose memory it is */
};

/*
 * target[i] = target[i] op origin[i] for n elements that lie behind each other;
 * result[i], unless result is NULL, gets what target[i] was.  origin is not
 * read if op is MPI_NO_OP.
 */
void vm_atomic_update(const struct vm_atomic *how, void *target,
		      const void *origin, void *result, size_t n);

/* The same of elements that nobody else reaches, at any addresses. */
void vm_atomic_update_alone(const struct vm_atomic *how, void *target,
			    const void *origin, void *result, size_t n);

/* *result = *target; *target = *origin if it was *compare; of one element,
 * whose bytes are compared. */
void vm_atomic_swap(const struct vm_type *type, struct vm_window_common *common,
		    void *target, const void *origin, const void *compare,
		    void *result);

#endif
