/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of many rings a reader looks at.
 *
 * It looks at those that are watched, up to 16, and at one word for all others:
 * the writer of a ring that is not watched rings that bell.  A ring in which
 * something was found is watched from then on, in the place of one in which
 * nothing was found for a while; so a look costs no more with many writers, and
 * a writer reads one word more.
 */
#ifndef FABRIC_SHM_WATCH_H
#define FABRIC_SHM_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fabric/shm/ring.h"

/*
 * A writer does not fence between its record and its look whether the ring is
 * watched, so the bell may be missing for a ring that is given up just then:
 * whoever relies on it looks at all rings now and then, and before it sleeps.
 */

#define VM_SHM_WATCHED 16

/* One reads; others may look whether there is something. */
struct vm_shm_watch {
	_Atomic(struct vm_shm_reader *) readers[VM_SHM_WATCHED];
	_Atomic uint32_t count;
	_Atomic uint32_t *bell;
	uint32_t most; /* VM_SHM_WATCHED, but in tests */
	uint32_t hand; /* the next one that may be given up */
};

static inline void vm_shm_watch_init(struct vm_shm_watch *watch,
				     _Atomic uint32_t *bell)
{
	watch->bell = bell;
	watch->most = VM_SHM_WATCHED;
}

/* Whether the bell was rung. */
static inline bool vm_shm_watch_rung(const struct vm_shm_watch *watch)
{
	return atomic_load_explicit(watch->bell, memory_order_relaxed);
}

static inline void vm_shm_watch_ring(struct vm_shm_watch *watch)
{
	atomic_store_explicit(watch->bell, 1, memory_order_relaxed);
}

/* Before a look at the rings that are not watched: what comes after it is
 * announced again. */
static inline void vm_shm_watch_clear(struct vm_shm_watch *watch)
{
	/* Pairs with the store in vm_shm_announce(). */
	atomic_exchange_explicit(watch->bell, 0, memory_order_acq_rel);
}

/* How many are watched; those below stay while nobody adds one. */
static inline uint32_t vm_shm_watch_count(const struct vm_shm_watch *watch)
{
	/* Pairs with the store in vm_shm_watch_add(). */
	return atomic_load_explicit(&watch->count, memory_order_acquire);
}

static inline struct vm_shm_reader *
vm_shm_watch_at(const struct vm_shm_watch *watch, uint32_t i)
{
	return atomic_load_explicit(&watch->readers[i], memory_order_acquire);
}

/* Whether nothing is in the watched rings, and the bell was not rung. */
static inline bool vm_shm_watch_silent(const struct vm_shm_watch *watch)
{
	uint32_t count = vm_shm_watch_count(watch);

	if (VM_UNLIKELY(vm_shm_watch_rung(watch)))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (vm_shm_peek(vm_shm_watch_at(watch, i)))
			return false;
	return true;
}

/* Something was found in a ring that is not watched: from now on it is, unless
 * something was found in all others too. */
void vm_shm_watch_add(struct vm_shm_watch *watch, struct vm_shm_reader *reader);

#endif
