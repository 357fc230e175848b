/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock of updates, and having all take it.
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

bool vm_window_update_alone(struct vm_window_common *common)
{
	if (atomic_load_explicit(&common->locked, memory_order_relaxed))
		return true;
	if (!vm_sched.membarrier)
		return false;
	atomic_store_explicit(&common->locked, true, memory_order_relaxed);
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
