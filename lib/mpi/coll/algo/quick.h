/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short collectives in one direction among processes of one member each, as
 * straight code: what they usually are, and find (core/meeting/leaders_quick.h).
 */
#ifndef MPI_COLL_ALGO_QUICK_H
#define MPI_COLL_ALGO_QUICK_H

#include "mpi/coll/coll.h"

/* Does a call for its member: 0; VM_PENDING: the usual way is needed; or a negative
 * code.  May switch. */
int vm_coll_quick(struct vm_coll *coll, const struct vm_chan *chan);

#endif
