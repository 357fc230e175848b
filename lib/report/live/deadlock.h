/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks can never go on: a pure question about who waits for whom.
 */
#ifndef REPORT_LIVE_DEADLOCK_H
#define REPORT_LIVE_DEADLOCK_H

#include <stdbool.h>

/* What a rank needs to go on. */
enum vm_need {
	VM_NEED_NOTHING, /* it runs, sleeps, or nobody knows: it may go on */
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
 * Finds those who can never go on, since what they need never happens; those
 * that have ended are not stuck.  Result: how many are.
 */
unsigned vm_deadlock_find(struct vm_deadlock_rank *ranks, unsigned count);

/*
 * A circle among the stuck that the first of them leads to, each waiting for the
 * next, from the lowest on, into circle[count].  Result: its length; 0: they
 * wait for somebody who has ended, whose number is *ended then.  At least one is
 * stuck.
 */
unsigned vm_deadlock_circle(unsigned *circle, unsigned *ended,
			    const struct vm_deadlock_rank *ranks,
			    unsigned count);

#endif
