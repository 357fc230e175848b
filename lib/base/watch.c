/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choosing the ring that is given up: as a clock does.
 */
#include "base/watch.h"

static void listed_set(struct vm_watched *ring, bool listed)
{
	ring->listed = listed;
	atomic_store_explicit(ring->told, listed, memory_order_relaxed);
}

/* Gives up a ring in which nothing was found since the hand came by; false:
 * there is none. */
static bool one_drop(struct vm_watch *watch)
{
	for (uint32_t i = 0; i < watch->most; i++) {
		struct vm_watched *ring;

		watch->hand = (watch->hand + 1) % watch->most;
		ring = vm_watch_at(watch, watch->hand);
		if (!ring->active) {
			listed_set(ring, false);
			/* Its writer may not know yet. */
			vm_watch_ring(watch);
			return true;
		}
		ring->active = false;
	}
	return false;
}

void vm_watch_add(struct vm_watch *watch, struct vm_watched *ring)
{
	uint32_t count = vm_watch_count(watch);
	uint32_t at = count;

	if (count == watch->most) {
		if (!one_drop(watch))
			return;
		at = watch->hand;
	}
	ring->active = false;
	listed_set(ring, true);
	atomic_store_explicit(&watch->list[at], ring, memory_order_release);
	if (at == count)
		/* Pairs with the load in vm_watch_count(). */
		atomic_store_explicit(&watch->count, count + 1,
				      memory_order_release);
}
