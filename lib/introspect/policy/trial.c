/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slots of a trial, and when it is over.
 *
 * It ends as soon as the mean gain is large beside its standard error, or so
 * small that it will hardly be enough.
 */
#include "introspect/policy/trial.h"

#include <stddef.h>

#define SETTLE_PART 8 /* of a slot, which is not measured */
#define SLOT_TICKS 4  /* that a slot has at least, or it says nothing */
#define VAIN_PAIRS 4  /* in a row of which neither has said anything */
#define SPOILT_PAIRS 16
#define SPREAD 0.04    /* of pairs, at least: of a few it may seem smaller */
#define STRANGE_PART 5 /* of the pairs are so at either end */
#define PAIRS_LEAST 3

/* Whether the first slot of a pair is one with the setting. */
static bool pair_begins_on(const struct vm_trial *trial, uint64_t pair)
{
	uint64_t x = (trial->seed << 48) ^ pair;

	/* Steele, Lea and Flood's mixing of bits. */
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (x ^ x >> 31) & 1;
}

static void slot_open(struct vm_trial *trial, uint64_t slot)
{
	trial->slot = slot;
	trial->on = pair_begins_on(trial, slot / 2) ^ (slot & 1);
	trial->began_ns = 0;
}

void vm_trial_again(struct vm_trial *trial)
{
	trial->waits = true;
	trial->on = false;
	trial->pairs = trial->vain = trial->strange = 0;
}

void vm_trial_resume(struct vm_trial *trial, uint64_t now_ns)
{
	trial->slot = now_ns / trial->slot_ns;
	trial->waits = true;
	trial->on = trial->spoilt = false;
	trial->vain = trial->strange = 0;
}

void vm_trial_begin(struct vm_trial *trial, uint64_t seed, uint64_t tick_ns,
		    uint64_t ticks, uint64_t now_ns)
{
	uint64_t slot_ticks = VM_TRIAL_TICKS;

	for (int i = 0; i < VM_TRIAL_DOUBLINGS; i++)
		if (ticks > slot_ticks - slot_ticks / SETTLE_PART)
			slot_ticks *= 2;
	*trial = (struct vm_trial){ .seed = seed,
				    .slot_ns = slot_ticks * tick_ns };
	trial->slot = now_ns / trial->slot_ns;
	vm_trial_again(trial);
}

/* The difference of two rates by their mean: of a gain and of as large a loss it is
 * the same but for the sign. */
static double difference(double with, double without)
{
	return 2 * (with - without) / (with + without);
}

void vm_trial_spoil(struct vm_trial *trial)
{
	trial->spoilt = true;
}

/* How many standard errors are no chance, where their size comes from so many
 * pairs: about what Student's distribution says of one in 200. */
static double errors_needed(unsigned pairs)
{
	double others = (double)pairs - 1;

	return 2.6 + 20 / (others * others);
}

/*
 * The mean of the gains, and the square of its standard error.  A machine that has
 * something else to do for a moment makes some of them large, of either sign: the
 * fifth at each end counts as the nearest of the others (Winsor).
 */
static double gains_mean(const struct vm_trial *trial, double *error_square)
{
	unsigned n = trial->pairs, strange = n / STRANGE_PART;
	double sum = 0, squares = 0, wide, variance;

	for (unsigned i = 0; i < n; i++) {
		unsigned from = i < strange	 ? strange :
				i >= n - strange ? n - strange - 1 :
						   i;

		sum += trial->gains[from];
		squares += trial->gains[from] * trial->gains[from];
	}
	wide = (double)(n - 1) / (double)(n > 1 ? n - 2 * strange - 1 : 1);
	variance = n > 1 ? (squares - sum * sum / n) / (n - 1) : 0;
	*error_square = (variance * wide * wide + SPREAD * SPREAD) / n;
	return sum / n;
}

/* Whether what the pairs have shown is enough. */
static enum vm_trial_end judge(const struct vm_trial *trial, int64_t percent)
{
	double least = difference(100 + (double)percent, 100);
	double error_square, mean = gains_mean(trial, &error_square), chance;

	if (trial->pairs == 1)
		return VM_TRIAL_GOES_ON;
	if (mean < least && error_square < (least - mean) * (least - mean))
		return VM_TRIAL_NO_GAIN;
	chance = errors_needed(trial->pairs);
	if (trial->pairs >= PAIRS_LEAST && mean >= least &&
	    mean * mean >= error_square * chance * chance)
		return VM_TRIAL_GAIN;
	if (trial->pairs < VM_TRIAL_PAIRS_MAX)
		return VM_TRIAL_GOES_ON;
	return mean >= least ? VM_TRIAL_UNSURE : VM_TRIAL_NO_GAIN;
}

static void gain_add(struct vm_trial *trial, double gain)
{
	unsigned i = trial->pairs++;

	for (; i > 0 && trial->gains[i - 1] > gain; i--)
		trial->gains[i] = trial->gains[i - 1];
	trial->gains[i] = gain;
}

/* Both slots of a pair are over. */
static enum vm_trial_end pair_add(struct vm_trial *trial, int64_t percent)
{
	double without = trial->rate[0], with = trial->rate[1];

	/* It was one of something else, or nothing is known of a slot. */
	if (trial->spoilt)
		return ++trial->strange >= SPOILT_PAIRS ? VM_TRIAL_SILENCE :
							  VM_TRIAL_GOES_ON;
	if (without <= 0 || with <= 0)
		return ++trial->vain >= VAIN_PAIRS ? VM_TRIAL_SILENCE :
						     VM_TRIAL_GOES_ON;
	trial->vain = trial->strange = 0;
	gain_add(trial, difference(with, without));
	return judge(trial, percent);
}

/* The rate of the slot that is over; 0: nothing was sent, or there were too few
 * ticks. */
static double slot_rate(const struct vm_trial *trial)
{
	if (!trial->began_ns || trial->slope.ticks < SLOT_TICKS)
		return 0;
	return vm_slope_rate(&trial->slope);
}

/* A slot is over, and another one has begun: the next, if no tick came late. */
static enum vm_trial_end slot_next(struct vm_trial *trial, uint64_t slot,
				   int64_t percent)
{
	bool same_pair = slot / 2 == trial->slot / 2;
	enum vm_trial_end end = VM_TRIAL_GOES_ON;

	if (!trial->waits)
		trial->rate[trial->on] = slot_rate(trial);
	if (!trial->waits && !same_pair)
		end = pair_add(trial, percent);
	/* A pair of which the first slot was missed is none. */
	if (!same_pair) {
		trial->waits = slot & 1;
		trial->rate[0] = trial->rate[1] = 0;
		trial->spoilt = false;
	}
	slot_open(trial, slot);
	trial->on &= !trial->waits;
	return end;
}

enum vm_trial_end vm_trial_tick(struct vm_trial *trial, uint64_t now_ns,
				uint64_t messages, int64_t percent)
{
	uint64_t slot = now_ns / trial->slot_ns;

	if (slot != trial->slot)
		return slot_next(trial, slot, percent);
	/* What the setting before has begun is to have ended. */
	if (now_ns - slot * trial->slot_ns < trial->slot_ns / SETTLE_PART)
		return VM_TRIAL_GOES_ON;
	if (!trial->began_ns) {
		trial->began_ns = now_ns;
		trial->messages = 0;
		trial->slope = (struct vm_slope){ 0 };
		messages = 0;
	}
	trial->messages += messages;
	vm_slope_add(&trial->slope, now_ns - trial->began_ns, trial->messages);
	return VM_TRIAL_GOES_ON;
}

double vm_trial_percent(const struct vm_trial *trial)
{
	double error, mean = trial->pairs ? gains_mean(trial, &error) : 0;

	return 200 * mean / (2 - mean);
}

const char *vm_trial_verdict(enum vm_trial_end end)
{
	switch (end) {
	case VM_TRIAL_GAIN:
		return "kept";
	case VM_TRIAL_UNSURE:
		return "may be chance";
	case VM_TRIAL_SILENCE:
		return "nothing to compare";
	default:
		return "no gain";
	}
}
