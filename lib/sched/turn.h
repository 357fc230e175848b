/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns of a core that processes of the job share.
 *
 * Who finds nothing yields to the others, and has its next turn when they have had
 * theirs.  Two on different cores that answer each other do so without any switch
 * while both have their turns at the same time; then each polls on for a moment
 * before it yields.
 */
#ifndef SCHED_TURN_H
#define SCHED_TURN_H

#include <stdbool.h>
#include <stdint.h>

struct vm_worker;

/* Of one thread. */
struct vm_turn {
	uint64_t since_ns; /* when it began to poll on; 0: it has not */
	unsigned found;	   /* times that something came then */
	bool asked;	   /* whether the other one has its turn: no */
	unsigned good;	/* so many turns are likely to be as good as one was */
	unsigned skip;	/* turns without polling on; ... */
	unsigned skips; /* ... so many the last time */
};

/*
 * Polls on by look(), if who has sent last has its turn too (hooks.partner_runs), or
 * has had it at the same time lately; whether look() was true.  False where no core
 * is shared (vm_sched.away is NULL), and when the caller had better yield.
 */
bool vm_turn_poll(struct vm_worker *worker, bool (*look)(void *arg), void *arg);

/* Yields the processor, and says so to others. */
void vm_turn_yield(struct vm_worker *worker);

#endif
