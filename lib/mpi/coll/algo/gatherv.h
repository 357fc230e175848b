/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers of blocks whose sizes only their senders and the root know, among
 * processes of one member each: whether it is short each sender decides for itself,
 * and none waits for others.
 */
#ifndef MPI_COLL_ALGO_GATHERV_H
#define MPI_COLL_ALGO_GATHERV_H

#include "mpi/coll/coll.h"

/* Whether the members' call goes this way, as all of them know. */
static inline bool vm_coll_is_gatherv(const struct vm_meet *meet,
				      const struct vm_coll *any)
{
	return (any->as == VM_CALL_Gatherv || any->as == VM_CALL_Gatherv_c) &&
	       meet->leaders->ones && !any->root && !any->first_size &&
	       !mpi_cvar.check_types && vm_leaders_may_go_ahead(meet);
}

/* Does the call of the member here: 0, VM_PENDING, by the root: somebody is in
 * another call, which the usual way finds; or an error.  May switch. */
int vm_coll_gatherv(struct vm_meet *meet, struct vm_coll *coll);

#endif
