/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Updates that an origin makes itself in the memory of another process of its host:
 * the kernel reads the elements, and writes them back (read, modify, write), while
 * the origin has the lock under which all update them (core/window/update.h).
 */
#ifndef MPI_WIN_FAR_RMW_H
#define MPI_WIN_FAR_RMW_H

#include "mpi/win/object/access.h"

/* A row of elements of a predefined type; all sides lie one behind the other. */
struct vm_far_rmw {
	const struct vm_op *op;
	const struct vm_type *type;
	char *target;
	const char *origin; /* NULL: MPI_NO_OP */
	char *result;	    /* where the old ones go; or NULL */
	size_t count;
};

/* Whether a member's elements can be updated so. */
static inline bool vm_far_rmw_is(const struct vm_win *win, int rank)
{
	return win->places[rank].updates && win->places[rank].base &&
	       win->flavor != MPI_WIN_FLAVOR_DYNAMIC;
}

/* Updates them; what is done is taken off *rmw.  0, -VMPI_ENOTSUP: packets have to
 * do what is left, or another error. */
int vm_far_rmw_go(struct vm_win *win, int rank, struct vm_far_rmw *rmw);

#endif
