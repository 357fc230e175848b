/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trial: a setting is taken and left in turn, for a slot of time each, and the
 * rates of the two slots of a pair are compared.
 *
 * A program's speed changes by itself, by more than what settings gain.  What is
 * measured long before says little; two slots in a row differ less, and how much
 * the pairs differ among themselves says how many are needed.
 */
#ifndef INTROSPECT_POLICY_TRIAL_H
#define INTROSPECT_POLICY_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "introspect/policy/rates.h"

/*
 * Slots are counted from the beginning of the time that policies are given, which
 * is the same in all processes of a job.  Which slot of a pair comes first with the
 * setting is a matter of chance, but the same for all who try the same: processes
 * need no messages to try it together, as a program whose processes wait for each
 * other may gain only if all of them change; and whatever others try meanwhile is on
 * as often in the one kind of slots as in the other.
 */

#define VM_TRIAL_TICKS 16 /* of a slot, or twice as many, or ... */
#define VM_TRIAL_DOUBLINGS 5
#define VM_TRIAL_PAIRS_MAX 48 /* then what is not shown is no gain */

enum vm_trial_end {
	VM_TRIAL_GOES_ON,
	VM_TRIAL_GAIN,
	VM_TRIAL_NO_GAIN,
	VM_TRIAL_UNSURE, /* as much was gained, but it may have been chance */
	VM_TRIAL_SILENCE /* hardly anything is sent any more, or something else */
};

struct vm_trial {
	uint64_t seed, slot_ns;
	uint64_t slot;	   /* the number of the one that is measured */
	bool waits;	   /* for the first pair to begin */
	bool on;	   /* the setting is to be taken now */
	bool spoilt;	   /* this pair says nothing */
	uint64_t began_ns; /* what is measured of this slot; 0: not yet */
	uint64_t messages;
	struct vm_slope slope;
	double rate[2]; /* of this pair, without and with; 0: not known */
	unsigned pairs;
	unsigned vain, strange; /* pairs in a row: silent, spoilt */
	/* Differences of the two rates by their mean, the smallest first. */
	double gains[VM_TRIAL_PAIRS_MAX];
};

/*
 * Begins one; it is off until the next pair begins.  seed: another number for each
 * thing that is tried.  tick_ns: between two ticks; ticks: in how many a rate is
 * known.
 */
void vm_trial_begin(struct vm_trial *trial, uint64_t seed, uint64_t tick_ns,
		    uint64_t ticks, uint64_t now_ns);

/* What was measured counts no more: something else has changed. */
void vm_trial_again(struct vm_trial *trial);

/* Goes on with one that was left, with the next pair. */
void vm_trial_resume(struct vm_trial *trial, uint64_t now_ns);

/* This pair does not count: the program does something else. */
void vm_trial_spoil(struct vm_trial *trial);

/*
 * At each tick, with what was sent since the last one and the percentage that is
 * worth it.  After it, trial->on says how the setting is to be.
 */
enum vm_trial_end vm_trial_tick(struct vm_trial *trial, uint64_t now_ns,
				uint64_t messages, int64_t percent);

/* The gain so far, in percent. */
double vm_trial_percent(const struct vm_trial *trial);

/* The end of a sentence about one that has ended. */
const char *vm_trial_verdict(enum vm_trial_end end);

/* When something that was of no use may be tried again, about so much later: at
 * the same time in all processes that wait as long. */
static inline uint64_t vm_trial_later(uint64_t now_ns, uint64_t wait_ns)
{
	return ((now_ns + wait_ns / 2) / wait_ns + 1) * wait_ns;
}

#endif
