/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of a member's memory: shared by any number of tasks, or exclusive.
 *
 * Who has it is one word, which whoever reaches the memory changes, in any
 * process.  Claims that have to wait are listed at the member's end and granted
 * in the order in which they come, so that none starves: a bit of the word keeps
 * others from passing them.
 */
#ifndef CORE_WINDOW_CLAIM_H
#define CORE_WINDOW_CLAIM_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/list.h"
#include "core/window/window.h"

/* In the word, beside the number of those who share the lock. */
#define VM_WINDOW_EXCLUSIVE ((uint64_t)1 << 63)
#define VM_WINDOW_AWAITED ((uint64_t)1 << 62)
#define VM_WINDOW_SHARED (VM_WINDOW_AWAITED - 1)

/* Takes a lock if nobody has it who minds, nor, unless `first`, waits for it. */
static inline bool vm_window_lock_try(_Atomic uint64_t *locks, bool exclusive,
				      bool first)
{
	uint64_t minds = VM_WINDOW_EXCLUSIVE |
			 (exclusive ? VM_WINDOW_SHARED : 0) |
			 (first ? 0 : VM_WINDOW_AWAITED);
	uint64_t had = atomic_load_explicit(locks, memory_order_relaxed);

	/* Pairs with the release by the last one. */
	do {
		if (had & minds)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		locks, &had, exclusive ? had | VM_WINDOW_EXCLUSIVE : had + 1,
		memory_order_acquire, memory_order_relaxed));
	return true;
}

/* Gives it back; true: vm_window_grant() has to be called at the end, as those
 * who wait may have it now.  What was not taken is not given back. */
static inline bool vm_window_lock_give(_Atomic uint64_t *locks, bool exclusive)
{
	uint64_t had = atomic_load_explicit(locks, memory_order_relaxed), has;

	/* Pairs with the acquire of the next one. */
	do {
		if (!exclusive && !(had & VM_WINDOW_SHARED))
			return false;
		has = exclusive ? had & ~VM_WINDOW_EXCLUSIVE : had - 1;
	} while (!atomic_compare_exchange_weak_explicit(
		locks, &had, has, memory_order_release, memory_order_relaxed));
	return (has & VM_WINDOW_AWAITED) && !(has & VM_WINDOW_SHARED);
}

/* Who wants a lock; the caller's until it is granted. */
struct vm_window_claim {
	struct vm_list link;
	bool exclusive;
	/* Called by whoever makes it possible, which may be a poller, or with
	 * -VMPI_EPEER, under the window's lock, when a process with a member is
	 * gone. */
	void (*granted)(struct vm_window_claim *claim, int error);
};

/* Claims the lock of the member that `window` is the end of; true: it is taken
 * already, and nothing is called. */
bool vm_window_claim(struct vm_window *window, struct vm_window_claim *claim);

/* The same for the calling task, which waits for it: 0 or -VMPI_EPEER.  May
 * switch. */
int vm_window_lock_wait(struct vm_window *window, bool exclusive);

/* Grants what can be. */
void vm_window_grant(struct vm_window *window);

/* Gives a lock back, and grants what can be. */
void vm_window_unlock(struct vm_window *window, bool exclusive);

/* Ends all claims; the window's lock is held. */
void vm_window_claims_end(struct vm_window *window);

#endif
