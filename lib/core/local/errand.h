/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errands: what a rank has begun and goes on without, in a task of its worker;
 * or on a helper (core/runtime/helper.h), if that worker goes on computing.
 *
 * Whoever takes an errand's number does it.  Those that nobody has taken are
 * seen by idle workers and by the progress agent (core/remote/agent.h), which
 * call a helper for those that have waited for a while.
 */
#ifndef CORE_LOCAL_ERRAND_H
#define CORE_LOCAL_ERRAND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/rank/state.h"

/* Of a kept one: run() would wait; it would not; or something is unusual. */
enum vm_errand_ripe { VM_ERRAND_WAITS, VM_ERRAND_RIPE, VM_ERRAND_ODD };

/* Embedded in what run() is called with. */
struct vm_errand {
	void (*run)(struct vm_errand *errand); /* may switch */
	struct vm_rank *rank;		       /* for which it is done */
	uint64_t id;
	uint64_t since_ns; /* when it was started */
	bool helped;	   /* a helper does it */
	/* Of a kept one: looks once, does not switch. */
	enum vm_errand_ripe (*ripe)(struct vm_errand *errand);
	struct vm_errand *next;
};

/* One that waited at some time, and the last one in steps; each who looks has its
 * own. */
struct vm_errand_seen {
	uint64_t id, since_ns;
	uint32_t steps_begun, steps;
};

/*
 * Has the errand of the caller's rank done, whose run() is set; now, if there is
 * no memory for more.  `later`: it takes so little that who waits for it may as
 * well do it: where the rank is a thread no task begins before the rank sleeps for
 * something else, since that would wake the worker.  While the thread polls for that,
 * or tests, it does the errand in steps.  If it does neither, the worker has a helper
 * called when it looks again, or goes on with it, which is after a few
 * milliseconds.  After one that has waited so the next ones have tasks at once.
 * Its number, or 0.  May switch.
 */
uint64_t vm_errand_start(struct vm_errand *errand, bool later);

/*
 * Keeps the errand of the caller's rank, whose run() and ripe() are set, for who
 * waits for it, or tests: nobody else needs that it is done.  Its number.
 */
uint64_t vm_errand_keep(struct vm_errand *errand);

/* Whether the rank has kept some. */
static inline bool vm_errands_kept(const struct vm_rank *rank)
{
	return atomic_load_explicit(&rank->kept, memory_order_relaxed) != NULL;
}

/* Does those kept for the caller's rank that are ripe, and begins tasks for odd
 * ones; whether there were any.  May switch. */
bool vm_errands_reap(void);

/* Begins tasks for all of them: by who waits for one of several, or goes without
 * waiting. */
void vm_errands_give(void);

/* Does the errand of this number, unless somebody else does or has: by who waits
 * for it.  May switch. */
void vm_errand_do(uint64_t id);

/* The number of one that no task has begun for; 0: none. */
static inline uint64_t vm_errands_left(void)
{
	return atomic_load_explicit(&vm_node->errands.left,
				    memory_order_relaxed);
}

/* Whether a thread does one in steps. */
static inline bool vm_errands_stepped(void)
{
	return VM_UNLIKELY(atomic_load_explicit(&vm_node->errands.stepped,
						memory_order_relaxed) != NULL);
}

/* Does what can be done now of that one, or of the one that no task has begun for;
 * whether that was anything.  By a thread that has polled.  May switch. */
bool vm_errands_step(void);

/* Begins a task of the worker for the one and for the other; by a thread of their
 * rank. */
void vm_errands_begin(void);

/* The same for one in steps, by the worker, if the thread computes, or has done so
 * most of the time since it looked last. */
void vm_errands_take_over(struct vm_errand_seen *seen, bool computes);

/* Whether some wait. */
static inline bool vm_errands_wait(void)
{
	/* Pairs with the addition in vm_errand_start(). */
	return atomic_load(&vm_node->errands.waiting) > 0;
}

/* Calls a helper for one that waits too long, as the caller has seen; whether
 * it did.  Does not switch. */
bool vm_errands_look(struct vm_errand_seen *seen);

/* Does one that waits, if there is one; by a helper. */
void vm_errand_take(void);

#endif
