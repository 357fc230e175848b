/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of calls: what members compare who do not see each other's arguments.
 */
#ifndef MPI_COLL_KEY_H
#define MPI_COLL_KEY_H

#include "mpi/coll/coll.h"

/*
 * Arguments on which all members must agree: vm_coll_differs() finds nothing if
 * keys are equal.  Members with different keys may still agree.  The first word
 * has the call, whether it is in place, the kind of its type, and its root; of
 * an operation of the user's it is said how it may be applied.
 */
static inline void vm_coll_key(uint64_t key[VM_MEET_KEY_WORDS],
			       const struct vm_coll *coll)
{
	const struct vm_coll_kind *kind = coll->kind;
	uint64_t in_place = kind->swaps && coll->in_place;
	uint32_t root = (uint32_t)(kind->rooted ? coll->root : coll->shares);

	key[0] = coll->as | in_place << 16 | (uint64_t)root << 32;
	key[1] = key[2] = key[3] = 0;
	if (!kind->reduces)
		return;
	key[0] |= (uint64_t)coll->recv.type->kind << 24;
	key[1] = 2u * coll->op->number + coll->op->commutes;
	key[2] = coll->recv.type->size * coll->recv.count;
	key[3] = (uint64_t)coll->recv.type->extent;
}

/* The call and the root that the first word of a key names. */
static inline unsigned vm_coll_key_as(uint64_t word)
{
	return word & UINT16_MAX;
}

static inline int vm_coll_key_root(uint64_t word)
{
	return (int)(word >> 32);
}

/* Records as an error of a call that the other, rank `other`, makes one whose key
 * has this first word; it does not look whether that is one. */
void vm_coll_differ_one(struct vm_coll *coll, uint64_t word, uint32_t other);

#endif
