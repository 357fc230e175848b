/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks of user-level threads, each with a guard below it.
 *
 * Stacks of one size come from slabs of address space; only touched pages take
 * memory.  Few stacks have guards that are mappings without access, which are
 * made the fastest.  Those of many are marked by madvise(MADV_GUARD_INSTALL),
 * which needs no mapping, where the kernel has it (Linux 6.13); else they are
 * mappings too while there are enough; else a canary that is checked when the
 * task ends.
 */
#ifndef SCHED_STACK_H
#define SCHED_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"

/* As large as the kernel's below the stack of a process: a function whose frame
 * is not longer cannot step over it. */
#define VM_STACK_GUARD_BYTES ((size_t)1 << 20)

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
	bool marks;	   /* the kernel has VM_GUARD_MADVISE */
};

/* The guard that this kernel offers to any number of stacks. */
enum vm_guard vm_guard_probe(void);
const char *vm_guard_name(enum vm_guard guard);

/*
 * The size of each of so many stacks of ranks, unless somebody has chosen one:
 * what `ulimit -s` gives a process, at most an equal share of the address space
 * that is meant for stacks, but 1 MiB if the limit allows that much.
 */
size_t vm_stack_bytes_of(int ranks);

/* Makes a pool of stacks with at least `bytes` usable bytes; about `count` will
 * be needed, 0: nobody knows. */
void vm_stack_pool_init(struct vm_stack_pool *pool, size_t bytes, size_t count);
void vm_stack_pool_fini(struct vm_stack_pool *pool);

/* 0, -VMPI_ENOMEM or (logged) -VMPI_ELIMIT. */
int vm_stack_get(struct vm_stack_pool *pool, struct vm_stack *stack);
/* Keeps it for the next user; returns its memory to the system if it was used
 * deeply. */
void vm_stack_put(struct vm_stack_pool *pool, struct vm_stack *stack);

/* The bounds of the calling OS thread's stack; unchanged if the system does not
 * tell them. */
void vm_stack_of_thread(struct vm_stack *stack);

/* Whether address lies in the guard below the stack. */
static inline bool vm_stack_guard_hit(const struct vm_stack *stack,
				      const void *address)
{
	uintptr_t a = (uintptr_t)address, base = (uintptr_t)stack->base;

	return a < base && base - a <= VM_STACK_GUARD_BYTES;
}

/* Whether a stack pointer shows that the stack has overflowed: it lies in the
 * guard below, or on a lower stack of the pool (if it is of one).  In signal
 * handlers, too. */
bool vm_stack_left(const struct vm_stack_pool *pool,
		   const struct vm_stack *stack, const void *pointer);

/* Whether a canary stack was overrun; false for other guards. */
bool vm_stack_overrun(const struct vm_stack *stack);

#endif
