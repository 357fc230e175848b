/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Being alone at a window.
 */
#include "core/window/update.h"

#include "sched/worker.h"

void vm_window_update_take(struct vm_window_common *common)
{
	if (!common->processes) {
		vm_lock_take(&common->update);
		return;
	}
	for (int spins = 0; !vm_lock_try(&common->update); spins++) {
		if (spins < VM_LOCK_SPINS)
			vm_cpu_relax();
		else if (spins < VM_LOCK_SPINS + VM_LOCK_YIELDS)
			vm_cpu_yield();
		else if (atomic_load_explicit(&common->broken,
					      memory_order_relaxed))
			return;
		else
			vm_cpu_nap();
	}
}

bool vm_window_alone_begin(struct vm_window_common *common)
{
	if (!vm_sched.membarrier)
		return false;
	atomic_store_explicit(&common->alone, true, memory_order_relaxed);
	/* Every worker sees that from now on, or its flag is seen here. */
	vm_sched_fence_all();
	for (int i = 0; i < vm_node->engine_count; i++) {
		const struct vm_thread_cache *cache =
			&vm_node->engines[i].cache;

		while (atomic_load_explicit(&cache->updating,
					    memory_order_acquire) == common)
			vm_cpu_yield();
	}
	return true;
}

void vm_window_alone_end(struct vm_window_common *common)
{
	atomic_store_explicit(&common->alone, false, memory_order_release);
}
