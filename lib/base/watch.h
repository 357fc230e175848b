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
#ifndef BASE_WATCH_H
#define BASE_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * A writer does not fence between its record and its look whether the ring is
 * watched, so the bell may be missing for a ring that is given up just then:
 * whoever relies on it looks at all rings now and then, and before it sleeps.
 */

#define VM_WATCHED 16

/* Of a ring, at its reader. */
struct vm_watched {
	_Atomic uint32_t *told; /* where its writer sees that it is watched */
	bool listed;
	bool active; /* something was found since the hand came by */
};

/* One reads; others may look whether there is something. */
struct vm_watch {
	_Atomic(struct vm_watched *) list[VM_WATCHED];
	_Atomic uint32_t count;
	_Atomic uint32_t *bell;
	uint32_t most; /* VM_WATCHED, but in tests */
	uint32_t hand; /* the next one that may be given up */
};

static inline void vm_watch_init(struct vm_watch *watch, _Atomic uint32_t *bell)
{
	watch->bell = bell;
	watch->most = VM_WATCHED;
}

/* Whether the bell was rung. */
static inline bool vm_watch_rung(const struct vm_watch *watch)
{
	return atomic_load_explicit(watch->bell, memory_order_relaxed);
}

static inline void vm_watch_ring(struct vm_watch *watch)
{
	atomic_store_explicit(watch->bell, 1, memory_order_relaxed);
}

/* A writer, behind its record. */
static inline void vm_watch_announce(const _Atomic uint32_t *told,
				     _Atomic uint32_t *bell)
{
	if (VM_LIKELY(atomic_load_explicit(told, memory_order_relaxed)))
		return;
	/* Pairs with the exchange in vm_watch_clear(). */
	if (!atomic_load_explicit(bell, memory_order_relaxed))
		atomic_store_explicit(bell, 1, memory_order_release);
}

/* Before a look at the rings that are not watched: what comes after it is
 * announced again. */
static inline void vm_watch_clear(struct vm_watch *watch)
{
	/* Pairs with the store in vm_watch_announce(). */
	atomic_exchange_explicit(watch->bell, 0, memory_order_acq_rel);
}

/* How many are watched; those below stay while nobody adds one. */
static inline uint32_t vm_watch_count(const struct vm_watch *watch)
{
	/* Pairs with the store in vm_watch_add(). */
	return atomic_load_explicit(&watch->count, memory_order_acquire);
}

static inline struct vm_watched *vm_watch_at(const struct vm_watch *watch,
					     uint32_t i)
{
	return atomic_load_explicit(&watch->list[i], memory_order_acquire);
}

/* Something was found in a ring that is not watched: from now on it is, unless
 * something was found in all others too. */
void vm_watch_add(struct vm_watch *watch, struct vm_watched *ring);

#endif
