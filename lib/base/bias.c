/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Giving and ending the bias.
 */
#include "base/bias.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local char vm_bias_mark;

void vm_bias_init(struct vm_bias *bias)
{
	*bias = (struct vm_bias){ .need = VM_BIAS_ROW };
	bias->fences = syscall(SYS_membarrier,
			       MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
			       0) == 0;
}

/* All other threads have passed a full fence since the call. */
static void fence_all(void)
{
	/* A filter of system calls may have come: stores of the owner are seen
	 * after a while all the same. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) < 0)
		vm_cpu_nap();
}

/* Under lock: ends the bias of another thread; false: that one is inside. */
static bool bias_end(struct vm_bias *bias, uintptr_t self)
{
	uintptr_t owner =
		atomic_load_explicit(&bias->owner, memory_order_relaxed);

	if (VM_LIKELY(!owner || owner == self))
		return true;
	atomic_store_explicit(&bias->owner, 0, memory_order_relaxed);
	if (bias->need < VM_BIAS_ROW_MOST)
		bias->need *= 2;
	/* Pairs with the fence in vm_bias_enter(). */
	fence_all();
	/* Pairs with the stores of the owner when it leaves. */
	return !atomic_load_explicit(&bias->inside, memory_order_acquire);
}

/* Under lock: who has it so often alone may own it. */
static void bias_count(struct vm_bias *bias, uintptr_t self)
{
	if (bias->last != self) {
		bias->last = self;
		bias->row = 0;
	} else if (++bias->row >= bias->need && bias->fences && !vm_bias_mark &&
		   (!bias->home || bias->home == self)) {
		/* One that has lost it may be about to enter: were it to clear
		 * the mark of the next owner, that one would be unseen. */
		bias->home = self;
		/* Who takes the lock next sees it. */
		atomic_store_explicit(&bias->owner, self, memory_order_relaxed);
		bias->row = 0;
	}
}

void vm_bias_take_slow(struct vm_bias *bias, uintptr_t self)
{
	vm_lock_take(&bias->lock);
	if (VM_UNLIKELY(!bias_end(bias, self)))
		while (atomic_load_explicit(&bias->inside,
					    memory_order_acquire))
			vm_cpu_yield();
	bias_count(bias, self);
}

bool vm_bias_try_slow(struct vm_bias *bias, uintptr_t self)
{
	uintptr_t owner;

	if (!vm_lock_try(&bias->lock))
		return false;
	owner = atomic_load_explicit(&bias->owner, memory_order_relaxed);
	if (VM_UNLIKELY(!bias_end(bias, self))) {
		/* The kernel may have interrupted it there. */
		atomic_store_explicit(&bias->owner, owner,
				      memory_order_relaxed);
		vm_lock_give(&bias->lock);
		return false;
	}
	bias_count(bias, self);
	return true;
}
