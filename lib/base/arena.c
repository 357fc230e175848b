/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks are cut off the end of what is used; those that are given back wait in
 * a list of their size.
 */
#include "base/arena.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/mapfile.h"
#include "base/own.h"

#define STEP_BYTES ((size_t)256 << 10)
#define TRIES 16 /* at places for addresses that are not reserved */

/* At an address that nothing has, or elsewhere: MAP_FAILED. */
static void *step_map(uintptr_t at)
{
	void *step = mmap((void *)at, STEP_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				  MAP_FIXED_NOREPLACE,
			  -1, 0);

	/* Kernels before 4.17 take the address for a wish. */
	if (step != MAP_FAILED && (uintptr_t)step != at) {
		munmap(step, STEP_BYTES);
		return MAP_FAILED;
	}
	return step;
}

/* Where addresses that are not reserved begin: the kernel gives addresses from
 * the top down and programs begin at the bottom or at two thirds, so half way
 * up is free for long; 0: it is not. */
static uintptr_t far_find(size_t most)
{
	void *top = mmap(NULL, STEP_BYTES, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uintptr_t at = (uintptr_t)top / 2 / most * most;

	if (top == MAP_FAILED)
		return 0;
	munmap(top, STEP_BYTES);
	for (int i = 0; i < TRIES; i++, at -= most)
		if (step_map(at) != MAP_FAILED) {
			munmap((void *)at, STEP_BYTES);
			return at;
		}
	return 0;
}

void vm_arena_init(struct vm_arena *arena, size_t most_bytes)
{
	void *base = MAP_FAILED;

	*arena = (struct vm_arena){ .readable = SIZE_MAX, .heap = true };
	vm_lock_init(&arena->lock);
	if (most_bytes < STEP_BYTES)
		return;
	if (vm_own_space() == SIZE_MAX)
		base = mmap(NULL, most_bytes, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	arena->reserved = base != MAP_FAILED;
	arena->base = arena->reserved ? (uintptr_t)base : far_find(most_bytes);
	if (!arena->base)
		return;
	arena->readable = 0;
	arena->most = most_bytes;
	arena->heap = false;
}

/* Pointers in the blocks keep what they point to. */
static void sanitize(const struct vm_arena *arena, size_t from, size_t bytes,
		     bool there)
{
	vm_mapped_root((const void *)(arena->base + from), bytes, there);
}

void vm_arena_fini(struct vm_arena *arena)
{
	while (arena->slabs) {
		struct vm_arena_block *slab = arena->slabs;

		arena->slabs = slab->next;
		free(slab);
	}
	if (!arena->most)
		return;
	for (size_t at = 0; at < arena->mapped; at += STEP_BYTES)
		sanitize(arena, at, STEP_BYTES, false);
	munmap((void *)arena->base,
	       arena->reserved ? arena->most : arena->mapped);
	arena->most = 0;
}

/* Makes memory of the next addresses. */
static bool step_add(struct vm_arena *arena)
{
	uintptr_t at = arena->base + arena->mapped;

	if (arena->mapped + STEP_BYTES > arena->most)
		return false;
	if (!arena->reserved)
		return step_map(at) != MAP_FAILED;
	return !mprotect((void *)at, STEP_BYTES, PROT_READ | PROT_WRITE);
}

/* Whether there is room for so many bytes now; the lock is held. */
static bool grow(struct vm_arena *arena, size_t bytes)
{
	while (arena->mapped < arena->used + bytes) {
		if (!step_add(arena))
			return false;
		sanitize(arena, arena->mapped, STEP_BYTES, true);
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
