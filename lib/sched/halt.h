/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Halts: all workers stand still at once, between two ULTs, so that something
 * can be changed that they all use without asking.
 *
 * Who wants a halt asks for it.  Each worker then lets its own OS thread (its
 * root ULT) run next, which stands still until all others do; a worker with
 * something to run waits for a bounded time, goes on, and comes back between
 * its next two ULTs.  When all stand, each prepares, and the last one to be
 * ready acts.  A halt that was not asked for costs nothing: the look is part of
 * vm_sched.poll of those who need halts.
 */
#ifndef SCHED_HALT_H
#define SCHED_HALT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct vm_worker;

struct vm_halt {
	/* Set before the workers start: what each worker does first, and what
	 * the last of them then does for all. */
	void (*prepare)(struct vm_worker *worker);
	void (*act)(void);
	/* Written by those who ask and by the last worker. */
	_Atomic uint32_t wanted VM_ALIGNED(VM_CACHELINE);
	_Atomic uint32_t asked; /* how many times */
	/* Written by all workers. */
	_Atomic uint32_t arrived VM_ALIGNED(VM_CACHELINE);
	_Atomic uint32_t ready;
	_Atomic uint32_t ended; /* how many halts there have been */
};

/* Asks for a halt; any worker's ULT.  false: there is one under way. */
bool vm_halt_ask(void);

/* No halt is wanted any more; it may come about all the same. */
void vm_halt_cancel(void);

/*
 * From vm_sched.poll: if there is a halt to come the root ULT runs next.  Returns
 * whether the caller, which is the root itself, is awaited.
 */
bool vm_halt_look(struct vm_worker *worker);

/* Inside sched: by the root ULT. */
void vm_halt_stand(struct vm_worker *worker);

/* For act(): ULTs whose `worker` was changed go over to its run queue or its
 * sleepers. */
void vm_halt_rehome(void);

#endif
