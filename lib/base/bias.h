/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A spin lock that costs the thread that takes it most no atomic exchange.
 *
 * The first thread that has taken it often in a row gets it biased, and no other
 * one after it: from then on it only raises a flag.  Whoever else wants it ends that, by a barrier on all threads
 * of the process (membarrier), after which either the owner sees it or is seen
 * inside.  Where the kernel has no such barrier it is a lock like any other.
 */
#ifndef BASE_BIAS_H
#define BASE_BIAS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/lock.h"

/*
 * An atomic exchange waits for all stores before it: one that follows a store to
 * a cache line that another core has waits for that line.
 */

/* Times in a row until a thread owns it: twice as many each time that has cost a
 * barrier, which are more than the exchanges that few save. */
#define VM_BIAS_ROW 1024
#define VM_BIAS_ROW_MOST 65536

struct vm_bias {
	struct vm_lock lock;
	_Atomic uintptr_t owner;  /* needs no lock; 0: nobody */
	_Atomic uintptr_t inside; /* the owner, while it is in without it */
	/* Under lock. */
	uintptr_t home; /* the only one who may own it; 0: not yet known */
	uintptr_t last; /* who had the lock, */
	uint32_t row;	/* ... so many times in a row */
	uint32_t need;	/* ... of so many */
	bool fences;	/* constant: the kernel has the barrier */
};

/* Its address is the thread's number; it is not 0 in one that owns none. */
extern _Thread_local char vm_bias_mark
	__attribute__((tls_model("initial-exec")));

static inline uintptr_t vm_bias_self(void)
{
	return (uintptr_t)&vm_bias_mark;
}

/* The calling thread will own none: others do what it does more often. */
static inline void vm_bias_decline(void)
{
	vm_bias_mark = 1;
}

void vm_bias_init(struct vm_bias *bias);

/* The rest of what follows, for those who do not own it. */
void vm_bias_take_slow(struct vm_bias *bias, uintptr_t self);
bool vm_bias_try_slow(struct vm_bias *bias, uintptr_t self);

/* Gets in without the lock. */
static VM_ALWAYS_INLINE bool vm_bias_enter(struct vm_bias *bias, uintptr_t self)
{
	if (VM_UNLIKELY(atomic_load_explicit(&bias->owner,
					     memory_order_relaxed) != self))
		return false;
	atomic_store_explicit(&bias->inside, self, memory_order_relaxed);
	/* Pairs with the barrier in bias_end(). */
	atomic_signal_fence(memory_order_seq_cst);
	if (VM_LIKELY(atomic_load_explicit(&bias->owner,
					   memory_order_acquire) == self))
		return true;
	atomic_store_explicit(&bias->inside, 0, memory_order_release);
	return false;
}

static VM_ALWAYS_INLINE void vm_bias_take(struct vm_bias *bias)
{
	uintptr_t self = vm_bias_self();

	if (VM_UNLIKELY(!vm_bias_enter(bias, self)))
		vm_bias_take_slow(bias, self);
}

/* Takes it if nobody has it, the caller included. */
static VM_ALWAYS_INLINE bool vm_bias_try(struct vm_bias *bias)
{
	uintptr_t self = vm_bias_self();

	if (VM_UNLIKELY(atomic_load_explicit(&bias->inside,
					     memory_order_relaxed) != 0))
		return false;
	return VM_LIKELY(vm_bias_enter(bias, self)) ||
	       vm_bias_try_slow(bias, self);
}

/* Whether somebody had it a moment ago, who may not be running now. */
static inline bool vm_bias_taken(const struct vm_bias *bias)
{
	return atomic_load_explicit(&bias->inside, memory_order_relaxed) != 0 ||
	       atomic_load_explicit(&bias->lock.held, memory_order_relaxed);
}

static VM_ALWAYS_INLINE void vm_bias_give(struct vm_bias *bias)
{
	if (VM_LIKELY(
		    atomic_load_explicit(&bias->inside, memory_order_relaxed) ==
		    vm_bias_self()))
		/* Pairs with the load in bias_end(). */
		atomic_store_explicit(&bias->inside, 0, memory_order_release);
	else
		vm_lock_give(&bias->lock);
}

#endif
