/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short scans among processes of one member each: every one waits for the result
 * of the one before, adds its operand and passes it on, and may be calls ahead of
 * those behind it.
 */
#ifndef MPI_COLL_ALGO_CHAIN_H
#define MPI_COLL_ALGO_CHAIN_H

#include "mpi/coll/coll.h"

struct vm_leaders_card;

/* Whether a short call goes this way, as all members know: VM_LEADERS_CHAIN. */
bool vm_coll_is_chain(const struct vm_meet *meet, const struct vm_coll *any);

/* Fills the cards of the first process, whose own card shows its operand. */
void vm_coll_chain_deal(struct vm_meet *meet,
			const struct vm_leaders_card *own);

/* Does the call of the member here, when vm_leaders_short() has got VM_DONE, and
 * passes on: 0 or an error. */
int vm_coll_chain(struct vm_meet *meet, struct vm_coll *coll);

#endif
