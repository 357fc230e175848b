/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Load balance: which ranks should run on other workers, from their recent run
 * times.
 */
#ifndef INTROSPECT_MEASURE_BALANCE_H
#define INTROSPECT_MEASURE_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Pure: once a round, the caller passes how long each rank has run in it and
 * where, and gets moves to make, mostly none.  A move is proposed when two
 * rounds in a row, and both together, show that the most loaded worker would
 * have noticeably less to do.  The effect of the moves is judged by the round
 * after them; where it was less than half of the expected gain, twice as many
 * rounds as the last time pass before the next proposal.  So programs whose
 * load fluctuates are soon left alone.
 */

struct vm_balance_load {
	uint64_t time; /* that the rank has run in this round */
	int worker;
	bool fixed; /* it cannot be moved */
};

struct vm_balance_move {
	int rank, worker; /* rank: place in the loads */
};

/* Kept from round to round.  Gains are in permille of the time of the most
 * loaded worker, which is the time that a round takes. */
struct vm_balance {
	int ranks, workers;
	unsigned least; /* gain that is worth moving */
	uint64_t *last; /* times of the round before; NULL after moves */
	bool has_last;
	unsigned wait, wait_next; /* rounds to skip: now, after a failure */
	bool judging;		  /* the round before ended with moves ... */
	unsigned before;	  /* ... at this waste ... */
	unsigned expected;	  /* ... which they were to cut by this */
	uint64_t *sums;		  /* by worker */
	struct vm_balance_load *plan;
	/* Of the last round. */
	unsigned
		waste; /* share of its time that a perfect balance would save */
	int got;       /* by how much moves have cut it, if just_judged */
	bool just_judged;
};

/* 0 or -VMPI_ENOMEM. */
int vm_balance_init(struct vm_balance *balance, int ranks, int workers,
		    unsigned least);
void vm_balance_fini(struct vm_balance *balance);

/*
 * Ends a round.  Fills moves[ranks]; returns how many there are, whose expected
 * gain is balance->expected.  Each rank is moved once at most, fixed ones
 * never.
 */
int vm_balance_round(struct vm_balance *balance, struct vm_balance_move *moves,
		     const struct vm_balance_load *loads);

/* Notes that the moves of the last round could not be made. */
void vm_balance_undone(struct vm_balance *balance);

/* The share of the time, in permille, that perfect balance would save. */
unsigned vm_balance_waste(const struct vm_balance *balance,
			  const struct vm_balance_load *loads);

/*
 * Computes a placement: worker[i] for times[i].  Blocks of neighbours, or those
 * with a few ranks moved, if that is within 2 % of the longest-first placement
 * (each rank to the least loaded worker); else the latter.
 */
int vm_balance_place(int *worker, const uint64_t *times, int ranks,
		     int workers);

#endif
