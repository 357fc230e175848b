/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OS threads that act for a rank, and their counters.
 *
 * Each counts in its thread cache, since several may run at a time; readers of
 * the rank's counters add that up first.
 */
#include "core/local/threads.h"

#include <stdlib.h>
#include <string.h>

#include "core/instrument/thread_name.h"
#include "core/local/engine.h"
#include "core/rank/state.h"
#include "core/rank/wait.h"

void vm_rank_threads_init(struct vm_rank *rank)
{
	vm_lock_init(&rank->thread_caches_lock);
	vm_lock_init(&rank->kept_lock);
	vm_list_init(&rank->caches);
}

/* Shows what all threads have counted until now; under thread_caches_lock. */
static void threads_show(struct vm_rank *rank)
{
	struct core_rank_pvars sum = rank->left_pvars;
	struct vm_list *link;

	for (link = rank->caches.next; link != &rank->caches; link = link->next)
		vm_pvars_fold(&core_rank_pvar_table, &sum,
			      &vm_container_of(link, struct vm_thread_cache,
					       link)
				       ->pvars);
	vm_pvars_show(&core_rank_pvar_table, &rank->thread_pvars, &sum);
}

void vm_rank_refresh(struct vm_rank *rank)
{
	/* In a signal handler the holder may be the interrupted code.  The
	 * holder of the lock shows them. */
	if (atomic_load_explicit(&rank->threaded, memory_order_acquire) &&
	    vm_lock_try(&rank->thread_caches_lock)) {
		threads_show(rank);
		vm_lock_give(&rank->thread_caches_lock);
	}
}

void vm_rank_counters(struct vm_rank *rank, struct core_rank_pvars *sum)
{
	vm_rank_refresh(rank);
	memset(sum, 0, sizeof(*sum));
	vm_pvars_fold(&core_rank_pvar_table, sum, &rank->pvars);
	vm_pvars_fold(&core_rank_pvar_table, sum, &rank->thread_pvars);
}

static void cache_enter(struct vm_rank *rank, struct vm_thread_cache *cache)
{
	struct vm_ult *none = NULL;

	atomic_compare_exchange_strong_explicit(&rank->main, &none, vm_self,
						memory_order_relaxed,
						memory_order_relaxed);
	vm_lock_take(&rank->thread_caches_lock);
	vm_list_append(&rank->caches, &cache->link);
	if (!atomic_load_explicit(&rank->threaded, memory_order_relaxed)) {
		atomic_store_explicit(&rank->threaded, true,
				      memory_order_release);
		vm_pvars_moved();
	}
	vm_lock_give(&rank->thread_caches_lock);
}

static void cache_leave(struct vm_rank *rank, struct vm_thread_cache *cache)
{
	struct vm_ult *self = vm_self;

	atomic_compare_exchange_strong_explicit(&rank->main, &self, NULL,
						memory_order_relaxed,
						memory_order_relaxed);
	vm_lock_take(&rank->thread_caches_lock);
	vm_list_remove(&cache->link);
	vm_pvars_fold(&core_rank_pvar_table, &rank->left_pvars, &cache->pvars);
	threads_show(rank);
	vm_lock_give(&rank->thread_caches_lock);
}

void vm_thread_acting(int change)
{
	vm_lock_take(&vm_node->threads.lock);
	vm_node->threads.acting += change;
	vm_lock_give(&vm_node->threads.lock);
}

static void act_begin(struct vm_rank *rank, struct vm_thread_cache *cache)
{
	vm_engine_own(rank->engine);
	cache_enter(rank, cache);
	vm_thread_acting(1);
	vm_wait_others(rank, 1);
}

static void act_end(struct vm_rank *rank, struct vm_thread_cache *cache)
{
	cache_leave(rank, cache);
	vm_engine_disown(rank->engine);
	vm_thread_acting(-1);
	vm_wait_others(rank, -1);
}

void vm_thread_act(struct vm_rank *rank)
{
	struct vm_thread_cache *cache = vm_thread_cache_self();

	VM_ASSERT(!vm_self->owner);
	/* What it has counted for others before. */
	memset(&cache->pvars, 0, sizeof(cache->pvars));
	vm_self->owner = rank;
	act_begin(rank, cache);
}

void vm_thread_act_end(void)
{
	act_end(vm_rank_self(), vm_thread_cache_self());
	vm_self->owner = NULL;
}

int vm_thread_adopt(struct vm_rank *rank)
{
	struct vm_worker *worker;
	struct vm_thread_cache *cache;

	if (!vm_node || vm_self)
		return -VMPI_ESTATE;
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		return -VMPI_ENOMEM;
	worker = vm_worker_adopt(rank);
	if (!worker) {
		free(cache);
		return -VMPI_ENOMEM;
	}
	vm_thread_cache_init(cache, NULL);
	worker->cache = cache;
	worker->root.counts = &cache->pvars;
	if (rank) {
		act_begin(rank, cache);
		vm_thread_name(rank);
	}
	atomic_fetch_add_explicit(&vm_node->threads.adopted, 1,
				  memory_order_relaxed);
	return 0;
}

void vm_thread_release(void)
{
	struct vm_worker *worker = vm_self->worker;
	struct vm_thread_cache *cache = worker->cache;
	struct vm_rank *rank = vm_rank_self();

	if (rank) {
		if (vm_errands_stepped())
			vm_errands_begin();
		act_end(rank, cache);
	}
	vm_thread_cache_fini(cache);
	vm_worker_release(worker);
	free(cache);
	/* Afterwards the node may be gone: pairs with vm_node_stop(). */
	atomic_fetch_sub_explicit(&vm_node->threads.adopted, 1,
				  memory_order_release);
}
