/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks of user-level threads, each with a guard below it.
 *
 * Stacks of one size come from slabs of address space; only touched pages take
 * memory.  The guard is a page marked by madvise(MADV_GUARD_INSTALL) where the
 * kernel has it (Linux 6.13), which needs no mapping of its own; else a page
 * without access while mappings last; else a canary that is checked when the
 * task ends.
 */
#ifndef SCHED_STACK_H
#define SCHED_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"

enum vm_guard { VM_GUARD_MADVISE, VM_GUARD_MPROTECT, VM_GUARD_CANARY };

struct vm_stack {
	char *base;   /* lowest usable byte; the guard lies below */
	size_t bytes; /* usable */
	enum vm_guard guard;
};

/* Stacks of one size. */
struct vm_stack_pool {
	struct vm_lock lock; /* guards all below */
	size_t bytes;	     /* usable bytes of each */
	size_t stride;	     /* from one to the next, guard included */
	enum vm_guard guard; /* kind of guard of the next stack */
	char *slab, *slab_end;
	struct vm_stack_slab *slabs;
	struct vm_stack_free *free;
	size_t made;	   /* stacks made so far */
	size_t guards_max; /* bound on mprotect guards */
};

/* The guard this kernel offers. */
enum vm_guard vm_guard_probe(void);
const char *vm_guard_name(enum vm_guard guard);

/* Makes a pool of stacks with at least `bytes` usable bytes. */
void vm_stack_pool_init(struct vm_stack_pool *pool, size_t bytes);
void vm_stack_pool_fini(struct vm_stack_pool *pool);

/* 0, -VMPI_ENOMEM or (logged) -VMPI_ELIMIT. */
int vm_stack_get(struct vm_stack_pool *pool, struct vm_stack *stack);
/* Keeps it for the next user; returns its memory to the system if it was used
 * deeply. */
void vm_stack_put(struct vm_stack_pool *pool, struct vm_stack *stack);

/* Whether address lies in the guard below the stack. */
static inline bool vm_stack_guard_hit(const struct vm_stack *stack,
				      const void *address)
{
	uintptr_t a = (uintptr_t)address, base = (uintptr_t)stack->base;

	return a < base && a >= base - 65536;
}

/* Whether a canary stack was overrun; false for other guards. */
bool vm_stack_overrun(const struct vm_stack *stack);

#endif
