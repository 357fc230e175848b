/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects of one size, without malloc on the way.
 *
 * Each OS thread has a cache per pool that only it touches; caches trade
 * batches of objects with the pool itself under a lock.  An object may be given
 * back by another thread than the one that took it.  Memory grows in slabs up
 * to the pool's bound and is given back when the pool ends.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/lock.h"

#define VM_POOL_BATCH 32

struct vm_pool_object {
	struct vm_pool_object *next;
};

struct vm_pool {
	struct vm_lock lock;	     /* guards all below */
	struct vm_pool_object *free; /* objects in no cache */
	void *slabs;		     /* chain of all memory, first word links */
	size_t object_bytes;
	size_t objects_max; /* bound on objects; 0: none */
	size_t objects;	    /* made so far */
	struct vm_arena
		*arena; /* where the memory comes from; NULL: the heap */
	const char *name;
};

/* One thread's part of a pool. */
struct vm_pool_cache {
	struct vm_pool_object *free;
	unsigned count;
	struct vm_pool *pool;
};

void vm_pool_init(struct vm_pool *pool, const char *name, size_t object_bytes,
		  size_t objects_max);
/* As vm_pool_init(), with memory of an arena that outlives the pool. */
void vm_pool_init_in(struct vm_pool *pool, const char *name,
		     size_t object_bytes, struct vm_arena *arena);
/* Frees the memory.  All caches must have been emptied or forgotten. */
void vm_pool_fini(struct vm_pool *pool);

void vm_pool_cache_init(struct vm_pool_cache *cache, struct vm_pool *pool);
/* Hands all cached objects back to the pool. */
void vm_pool_cache_fini(struct vm_pool_cache *cache);

/* The slow halves of get and put: trade a batch with the pool. */
struct vm_pool_object *vm_pool_refill(struct vm_pool_cache *cache);
void vm_pool_spill(struct vm_pool_cache *cache);

/* An object, its content undefined; NULL at the bound or out of memory. */
static inline void *vm_pool_get(struct vm_pool_cache *cache)
{
	struct vm_pool_object *object = cache->free;

	if (!object)
		return vm_pool_refill(cache);
	cache->free = object->next;
	cache->count--;
	return object;
}

static inline void vm_pool_put(struct vm_pool_cache *cache, void *pointer)
{
	struct vm_pool_object *object = pointer;

	object->next = cache->free;
	cache->free = object;
	if (++cache->count > 2 * VM_POOL_BATCH)
		vm_pool_spill(cache);
}

#endif
