/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choosing the ring that is given up: as a clock does.
 */
#include "fabric/shm/watch.h"

static void watched_set(struct vm_shm_reader *reader, bool watched)
{
	reader->watched = watched;
	atomic_store_explicit(&reader->ring->watched, watched,
			      memory_order_relaxed);
}

/* Gives up a ring in which nothing was found since the hand came by; false:
 * there is none. */
static bool one_drop(struct vm_shm_watch *watch)
{
	for (uint32_t i = 0; i < watch->most; i++) {
		struct vm_shm_reader *reader;

		watch->hand = (watch->hand + 1) % watch->most;
		reader = vm_shm_watch_at(watch, watch->hand);
		if (!reader->active) {
			watched_set(reader, false);
			/* Its writer may not know yet. */
			vm_shm_watch_ring(watch);
			return true;
		}
		reader->active = false;
	}
	return false;
}

void vm_shm_watch_add(struct vm_shm_watch *watch, struct vm_shm_reader *reader)
{
	uint32_t count = vm_shm_watch_count(watch);
	uint32_t at = count;

	if (count == watch->most) {
		if (!one_drop(watch))
			return;
		at = watch->hand;
	}
	reader->active = false;
	watched_set(reader, true);
	atomic_store_explicit(&watch->readers[at], reader,
			      memory_order_release);
	if (at == count)
		/* Pairs with the load in vm_shm_watch_count(). */
		atomic_store_explicit(&watch->count, count + 1,
				      memory_order_release);
}
