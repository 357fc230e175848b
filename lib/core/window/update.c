/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Being alone at a window.
 */
#include "core/window/update.h"

#include "sched/worker.h"

bool vm_window_alone_begin(struct vm_window *window)
{
	if (!vm_sched.membarrier)
		return false;
	atomic_store_explicit(&window->alone, true, memory_order_relaxed);
	/* Every worker sees that from now on, or its flag is seen here. */
	vm_sched_fence_all();
	for (int i = 0; i < vm_node->engine_count; i++) {
		const struct vm_thread_cache *cache =
			&vm_node->engines[i].cache;

		while (atomic_load_explicit(&cache->updating,
					    memory_order_acquire) == window)
			vm_cpu_yield();
	}
	return true;
}

void vm_window_alone_end(struct vm_window *window)
{
	atomic_store_explicit(&window->alone, false, memory_order_release);
}
