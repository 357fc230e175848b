/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory at addresses of its own: whether a pointer leads into it can be told
 * without following it, so a handle that a program has made up is no fault.
 *
 * Addresses are reserved once and become memory as they are needed; where they
 * are limited each is taken when it is needed, from a place far from all others.
 * Memory that was given back stays readable until the end.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/lock.h"

#define VM_ARENA_CLASSES 16 /* of blocks that can be given back */

struct vm_arena {
	/* Read by all: what lies here is memory.  Where addresses could not be
	 * reserved, or there are too few, everything counts as such. */
	uintptr_t base;
	size_t readable;
	/* Guarded by the lock: */
	struct vm_lock lock;
	size_t most, mapped, used; /* bytes from base */
	bool reserved;		   /* all of them */
	bool heap;		   /* new blocks come from there */
	struct vm_arena_block {
		struct vm_arena_block *next;
	} * free[VM_ARENA_CLASSES], *slabs; /* slabs: of the heap */
};

/* Has so many bytes of addresses, which are reserved unless a limit counts
 * them. */
void vm_arena_init(struct vm_arena *arena, size_t most_bytes);
void vm_arena_fini(struct vm_arena *arena);

/* A block, aligned to a cache line, its content undefined; NULL: out of
 * memory. */
void *vm_arena_get(struct vm_arena *arena, size_t bytes);

/* Gives a block of VM_ARENA_CLASSES cache lines at most back. */
void vm_arena_put(struct vm_arena *arena, void *block, size_t bytes);

/* Whether a block may be there. */
static inline bool vm_arena_has(const struct vm_arena *arena,
				const void *pointer)
{
	uintptr_t at = (uintptr_t)pointer - arena->base;

	return at < __atomic_load_n(&arena->readable, __ATOMIC_RELAXED) &&
	       (at & (VM_CACHELINE - 1)) == 0;
}

#endif
