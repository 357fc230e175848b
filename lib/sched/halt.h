/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Halts: all workers stand still at once, between two ULTs, so that something
 * can be changed that they all use without a lock.
 */
#ifndef SCHED_HALT_H
#define SCHED_HALT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Each worker then lets its own OS thread (its root ULT) run next, which waits
 * until all others do; a worker with something to run waits for a bounded time,
 * continues, and comes back between its next two ULTs.  When all stand still,
 * each prepares, and the last one to be ready acts.  Until a halt is asked for
 * it costs nothing: the check is part of the vm_sched.hooks.poll of modules
 * that need halts.
 */

struct vm_worker;

struct vm_halt {
	/* Set before the workers start: the function that each worker runs
	 * first, and the one that the last of them then runs for all. */
	void (*prepare)(struct vm_worker *worker);
	void (*act)(void);
	/* Written by those who ask and by the last worker. */
	_Atomic uint32_t wanted VM_ALIGNED(VM_CACHELINE);
	_Atomic uint32_t asked; /* number of halts asked for */
	/* Written by all workers. */
	_Atomic uint32_t arrived VM_ALIGNED(VM_CACHELINE);
	_Atomic uint32_t ready;
	_Atomic uint32_t ended; /* number of halts that have ended */
};

/* Asks for a halt; any worker's ULT.  false: one is under way. */
bool vm_halt_ask(void);

/* Withdraws the wish for a halt; it may come about all the same. */
void vm_halt_cancel(void);

/*
 * For vm_sched.hooks.poll: if a halt is to come, the root ULT runs next.
 * Returns whether the others wait for the caller, which is the root itself.
 */
bool vm_halt_look(struct vm_worker *worker);

/* Inside sched: waits for the others and takes part in the halt, in the root
 * ULT. */
void vm_halt_stand(struct vm_worker *worker);

/* For act(): moves ULTs whose `worker` was changed to its run queue or its
 * sleepers. */
void vm_halt_rehome(void);

#endif
