/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks can never go on: a pure question about who waits for whom.
 */
#ifndef VMPISTAT_STUCK_H
#define VMPISTAT_STUCK_H

#include <stdbool.h>

/* What a rank needs to go on. */
enum need {
	NEED_NOTHING, /* it runs, sleeps, or nobody knows: it may go on */
	NEED_ONE,     /* that `peer` goes on */
	NEED_ANY,     /* that any other rank goes on */
	NEED_ALL,     /* that all ranks come that are not in `group` already */
	NEED_MIRACLE, /* it has ended: it does nothing any more */
};

struct waiter {
	enum need need;
	unsigned peer;	/* NEED_ONE */
	unsigned group; /* NEED_ALL: the operation; others wait in it too */
	bool stuck;	/* the answer */
};

/*
 * Finds those who can never go on, since what they need never happens; those
 * that have ended are not stuck.  Result: how many are.
 */
unsigned stuck_find(struct waiter *waiters, unsigned count);

/*
 * A circle among the stuck that rank `from` leads to, each waiting for the
 * next, from the lowest on, into circle[count].  Result: its length; 0: they wait for somebody who
 * has ended, whose number is *ended then.
 */
unsigned stuck_circle(unsigned *circle, unsigned *ended,
		      const struct waiter *waiters, unsigned count,
		      unsigned from);

#endif
