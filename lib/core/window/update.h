/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who updates elements of a member's memory: one element, by an instruction, or
 * many, under a lock.
 *
 * The first one who updates many has all others take the lock, too, from then
 * on, so that many elements need no instruction each.  Most windows have no such
 * updates, so the others only raise a flag and look at another one; a barrier on
 * all threads (membarrier) makes up for the fence that is not there.  Several
 * processes have no such barrier: there all take the lock.
 */
#ifndef CORE_WINDOW_UPDATE_H
#define CORE_WINDOW_UPDATE_H

#include "core/local/engine.h"
#include "core/window/window.h"

/* The calling thread is about to update one element; false: it has to take the
 * lock. */
static inline bool vm_window_update_enter(struct vm_window_common *common)
{
	struct vm_thread_cache *cache = vm_thread_cache_self();

	atomic_store_explicit(&cache->updating, common, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (VM_LIKELY(cache->engine &&
		      !atomic_load_explicit(&common->locked,
					    memory_order_acquire)))
		return true;
	/* Pairs with the wait in vm_window_update_alone(). */
	atomic_store_explicit(&cache->updating, NULL, memory_order_release);
	return false;
}

static inline void vm_window_update_leave(void)
{
	atomic_store_explicit(&vm_thread_cache_self()->updating, NULL,
			      memory_order_release);
}

/* The lock under which many are updated; of several processes all are. */
void vm_window_update_take(struct vm_window_common *common);

static inline void vm_window_update_give(struct vm_window_common *common)
{
	vm_lock_give(&common->update);
}

/* The caller has that lock: nobody else updates anything until it gives it back,
 * as all take it from now on.  false: that cannot be had here. */
bool vm_window_update_alone(struct vm_window_common *common);

#endif
