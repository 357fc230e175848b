/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Showing and waiting for numbers.
 *
 * A leader with nothing else to run on its worker polls.  Else it registers as
 * its worker's waiter and suspends itself; whoever shows a number then wakes
 * it.
 */
#include "core/meeting/meet_post.h"

#include "core/meeting/meet.h"
#include "core/rank/wait.h"
#include "sched/ult.h"

/*
 * Who shows sets the word, then looks for waiters; who waits sets the waiter,
 * then looks at the word; each with a fence in between, so that at least one of
 * the two sees the other.  Whoever takes the waiter out (there is one exchange
 * for both) decides: the one who shows then wakes it, the one who waits then
 * goes on without a wake.  A waiter may also be taken out by one who has read
 * its registration for an earlier word; it is woken for nothing then, looks,
 * and registers again.
 */

/* Wakes the leader of a worker if it waits for this word. */
static void waiter_wake(struct vm_meet_post_waiter *waiter,
			const _Atomic uint32_t *word)
{
	/* Pairs with the store in vm_meet_post_wait(): shows the waiter's
	 * word. */
	struct vm_ult *ult =
		atomic_load_explicit(&waiter->ult, memory_order_acquire);

	if (VM_LIKELY(!ult) ||
	    atomic_load_explicit(&waiter->word, memory_order_relaxed) != word)
		return;
	if (atomic_compare_exchange_strong_explicit(&waiter->ult, &ult, NULL,
						    memory_order_acq_rel,
						    memory_order_relaxed))
		vm_ult_wake(ult);
}

void vm_meet_post_show(struct vm_meet *meet, const struct vm_meet_worker *self,
		       _Atomic uint32_t *word, uint32_t number)
{
	/* Pairs with the loads in vm_meet_post_wait(). */
	atomic_store_explicit(word, number, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	for (uint32_t w = 0; w < meet->worker_count; w++)
		if (&meet->workers[w] != self)
			waiter_wake(&meet->workers[w].waiter, word);
}

/* Registers and suspends the caller, unless the word is number already. */
static void wait_suspended(struct vm_meet_post_waiter *waiter,
			   const _Atomic uint32_t *word, uint32_t number,
			   const struct vm_chan *chan)
{
	struct vm_ult *self = vm_self;

	atomic_store_explicit(&waiter->word, word, memory_order_relaxed);
	/* Pairs with the load in waiter_wake(). */
	atomic_store_explicit(&waiter->ult, self, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(word, memory_order_relaxed) == number &&
	    atomic_compare_exchange_strong_explicit(&waiter->ult, &self, NULL,
						    memory_order_acq_rel,
						    memory_order_relaxed))
		return;
	vm_wait_members(chan);
}

void vm_meet_post_wait(struct vm_meet_worker *self,
		       const _Atomic uint32_t *word, uint32_t number,
		       const struct vm_chan *chan)
{
	/* Pairs with the store in vm_meet_post_show(). */
	while (atomic_load_explicit(word, memory_order_acquire) != number)
		if (!vm_ult_watch(word, number))
			wait_suspended(&self->waiter, word, number, chan);
}
