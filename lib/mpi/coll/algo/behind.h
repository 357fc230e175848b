/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long calls among processes of a host whose cards say all: which call, by which
 * plan, and how many bytes.  The data follow, and nobody sends each other one its
 * call.
 */
#ifndef MPI_COLL_ALGO_BEHIND_H
#define MPI_COLL_ALGO_BEHIND_H

#include "mpi/coll/algo/hier.h"

/* Does a call that is not small, in which `need` says whose cards are needed: as
 * vm_coll_small_far(), and -VMPI_EMISMATCH of vm_leaders_short().  A card has been
 * begun.  May switch. */
int vm_coll_behind(struct vm_meet *meet, enum vm_leaders_need need);

/* Whether a root here gets blocks of more bytes, of which it sends none. */
bool vm_coll_behind_expected(const struct vm_meet *meet,
			     const struct vm_coll *any, size_t most_bytes);

/* Whether the root's card says that its data follow; does the rest of such a call:
 * 0 or an error.  May switch. */
bool vm_coll_behind_root(const struct vm_meet *meet);
int vm_coll_behind_leaf(struct vm_meet *meet);

#endif
