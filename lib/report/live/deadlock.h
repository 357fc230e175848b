/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks can never go on: a pure question about which rank waits for
 * which.
 */
#ifndef REPORT_LIVE_DEADLOCK_H
#define REPORT_LIVE_DEADLOCK_H

#include <stdbool.h>

/* The need of a rank before it can go on. */
enum vm_need {
	VM_NEED_NOTHING, /* it runs, sleeps, or is unknown: may go on */
	VM_NEED_ONE,	 /* that `peer` goes on */
	VM_NEED_ANY,	 /* that any other rank goes on */
	VM_NEED_ALL,	 /* that all ranks come that are not in `group` yet */
	VM_NEED_MIRACLE, /* it has ended: it does nothing any more */
};

struct vm_deadlock_rank {
	enum vm_need need;
	unsigned peer;	/* ONE */
	unsigned group; /* the operation of all ranks that it is in, whatever it
			   needs; 0: none */
	bool stuck;	/* the answer */
};

/*
 * Finds ranks that can never go on, since what they need never happens; those
 * that have ended are not stuck.  Result: how many are.
 */
unsigned vm_deadlock_find(struct vm_deadlock_rank *ranks, unsigned count);

/*
 * Finds a circle among the stuck that the first of them leads to, each waiting
 * for the next, from the lowest on, into circle[count].  Result: its length; 0:
 * they wait for a rank that has ended, whose number is *ended then.  At least
 * one is stuck.
 */
unsigned vm_deadlock_circle(unsigned *circle, unsigned *ended,
			    const struct vm_deadlock_rank *ranks,
			    unsigned count);

#endif
