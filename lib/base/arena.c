/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks are cut off the end of what is used; those that are given back wait in
 * a list of their size.
 */
#include "base/arena.h"

#include <stdlib.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#define STEP_BYTES ((size_t)256 << 10)
#define LEAST_BYTES ((size_t)16 << 20)

void vm_arena_init(struct vm_arena *arena, size_t most_bytes)
{
	void *base = MAP_FAILED;

	*arena = (struct vm_arena){ .readable = SIZE_MAX, .heap = true };
	vm_lock_init(&arena->lock);
	while (base == MAP_FAILED && most_bytes >= LEAST_BYTES) {
		base = mmap(NULL, most_bytes, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (base == MAP_FAILED)
			most_bytes /= 2;
	}
	if (base == MAP_FAILED)
		return;
	arena->base = (uintptr_t)base;
	arena->readable = 0;
	arena->reserved = most_bytes;
	arena->heap = false;
}

/* Pointers in the blocks keep what they point to, for the tool. */
static void sanitize(const struct vm_arena *arena, size_t from, size_t bytes,
		     bool there)
{
#if defined(__SANITIZE_ADDRESS__)
	if (there)
		__lsan_register_root_region((void *)(arena->base + from),
					    bytes);
	else
		__lsan_unregister_root_region((void *)(arena->base + from),
					      bytes);
#endif
	(void)arena;
	(void)from;
	(void)bytes;
	(void)there;
}

void vm_arena_fini(struct vm_arena *arena)
{
	while (arena->slabs) {
		struct vm_arena_block *slab = arena->slabs;

		arena->slabs = slab->next;
		free(slab);
	}
	if (!arena->reserved)
		return;
	for (size_t at = 0; at < arena->mapped; at += STEP_BYTES)
		sanitize(arena, at, STEP_BYTES, false);
	munmap((void *)arena->base, arena->reserved);
	arena->reserved = 0;
}

/* Whether there is room for so many bytes now; the lock is held. */
static bool grow(struct vm_arena *arena, size_t bytes)
{
	while (arena->mapped < arena->used + bytes) {
		size_t at = arena->mapped;

		if (at + STEP_BYTES > arena->reserved ||
		    mprotect((void *)(arena->base + at), STEP_BYTES,
			     PROT_READ | PROT_WRITE))
			return false;
		sanitize(arena, at, STEP_BYTES, true);
		arena->mapped += STEP_BYTES;
		__atomic_store_n(&arena->readable, arena->mapped,
				 __ATOMIC_RELAXED);
	}
	return true;
}

/* Beyond the addresses: any pointer may be one of ours from now on. */
static void *heap_get(struct vm_arena *arena, size_t bytes)
{
	struct vm_arena_block *slab =
		aligned_alloc(VM_CACHELINE, VM_CACHELINE + bytes);

	if (!slab)
		return NULL;
	arena->heap = true;
	__atomic_store_n(&arena->readable, SIZE_MAX, __ATOMIC_RELAXED);
	slab->next = arena->slabs;
	arena->slabs = slab;
	return (char *)slab + VM_CACHELINE;
}

static size_t lines_of(size_t bytes)
{
	return (bytes + VM_CACHELINE - 1) / VM_CACHELINE;
}

void *vm_arena_get(struct vm_arena *arena, size_t bytes)
{
	size_t lines = lines_of(bytes);
	struct vm_arena_block *block = NULL;

	bytes = lines * VM_CACHELINE;
	vm_lock_take(&arena->lock);
	if (lines && lines <= VM_ARENA_CLASSES)
		block = arena->free[lines - 1];
	if (block) {
		arena->free[lines - 1] = block->next;
	} else if (!arena->heap && grow(arena, bytes)) {
		block = (void *)(arena->base + arena->used);
		arena->used += bytes;
	} else {
		block = heap_get(arena, bytes);
	}
	vm_lock_give(&arena->lock);
	return block;
}

void vm_arena_put(struct vm_arena *arena, void *pointer, size_t bytes)
{
	struct vm_arena_block *block = pointer;
	size_t class = lines_of(bytes) - 1;

	vm_lock_take(&arena->lock);
	block->next = arena->free[class];
	arena->free[class] = block;
	vm_lock_give(&arena->lock);
}
