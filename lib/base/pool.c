/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slow half of pools: slabs, and batches between caches and pool.
 */
#include "base/pool.h"

#include <stdlib.h>

#include "base/err.h"

void vm_pool_init(struct vm_pool *pool, const char *name, size_t object_bytes,
		  size_t objects_max)
{
	*pool = (struct vm_pool){ .name = name, .objects_max = objects_max };
	vm_lock_init(&pool->lock);
	pool->object_bytes = (object_bytes + VM_CACHELINE - 1) &
			     ~(size_t)(VM_CACHELINE - 1);
}

void vm_pool_init_in(struct vm_pool *pool, const char *name,
		     size_t object_bytes, struct vm_arena *arena)
{
	vm_pool_init(pool, name, object_bytes, 0);
	pool->arena = arena;
}

void vm_pool_fini(struct vm_pool *pool)
{
	void *slab = pool->arena ? NULL : pool->slabs;

	while (slab) {
		void *next = *(void **)slab;

		free(slab);
		slab = next;
	}
	pool->slabs = NULL;
	pool->free = NULL;
	pool->objects = 0;
}

void vm_pool_cache_init(struct vm_pool_cache *cache, struct vm_pool *pool)
{
	*cache = (struct vm_pool_cache){ .pool = pool };
}

void vm_pool_cache_fini(struct vm_pool_cache *cache)
{
	struct vm_pool *pool = cache->pool;

	vm_lock_take(&pool->lock);
	while (cache->free) {
		struct vm_pool_object *object = cache->free;

		cache->free = object->next;
		object->next = pool->free;
		pool->free = object;
	}
	vm_lock_give(&pool->lock);
	cache->count = 0;
}

/* Adds a slab of one batch to the pool; the lock is held. */
static void pool_grow(struct vm_pool *pool)
{
	size_t count = VM_POOL_BATCH;
	size_t bytes = VM_CACHELINE + count * pool->object_bytes;
	char *slab;

	if (pool->objects_max && pool->objects + count > pool->objects_max)
		return;
	slab = pool->arena ? vm_arena_get(pool->arena, bytes) :
			     aligned_alloc(VM_CACHELINE, bytes);
	if (!slab)
		return;
	*(void **)slab = pool->slabs;
	pool->slabs = slab;
	pool->objects += count;
	for (size_t i = count; i-- > 0;) {
		struct vm_pool_object *object =
			(void *)(slab + VM_CACHELINE + i * pool->object_bytes);

		object->next = pool->free;
		pool->free = object;
	}
}

struct vm_pool_object *vm_pool_refill(struct vm_pool_cache *cache)
{
	struct vm_pool *pool = cache->pool;
	struct vm_pool_object *object;

	vm_lock_take(&pool->lock);
	if (!pool->free)
		pool_grow(pool);
	object = pool->free;
	if (object) {
		pool->free = object->next;
		while (pool->free && cache->count < VM_POOL_BATCH - 1) {
			struct vm_pool_object *spare = pool->free;

			pool->free = spare->next;
			spare->next = cache->free;
			cache->free = spare;
			cache->count++;
		}
	}
	vm_lock_give(&pool->lock);
	return object;
}

void vm_pool_spill(struct vm_pool_cache *cache)
{
	struct vm_pool *pool = cache->pool;

	vm_lock_take(&pool->lock);
	while (cache->count > VM_POOL_BATCH) {
		struct vm_pool_object *object = cache->free;

		cache->free = object->next;
		cache->count--;
		object->next = pool->free;
		pool->free = object;
	}
	vm_lock_give(&pool->lock);
}
