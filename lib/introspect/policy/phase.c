/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distances of phases.
 */
#include "introspect/policy/phase.h"

#define SHARE_DIFFERS 0.2 /* so much of the messages is of another kind */
#define RATE_DIFFERS 3	  /* times as fast, or as slow */
#define RATE_WEIGHT 0.1	  /* of shares that are alike the rate decides */
#define TICK_MESSAGES 32  /* of a tick show that another phase begins */
#define FOLLOWS 0.25	  /* the weight of what was counted last */

static double share_of(const struct vm_phase_count *count, unsigned i)
{
	uint64_t part = i < VM_SIZE_BINS ? count->sizes[i] : count->received;

	return (double)part / (double)(count->sent + count->received);
}

static double rate_of(const struct vm_phase_count *count)
{
	return (double)count->sent * 1e9 / (double)count->ns;
}

void vm_phase_set(struct vm_phase *phase, const struct vm_phase_count *count,
		  bool on)
{
	for (unsigned i = 0; i <= VM_SIZE_BINS; i++)
		phase->share[i] = share_of(count, i);
	phase->rate[on] = rate_of(count);
	phase->rate[!on] = 0;
}

/* The part of the messages that is of other kinds. */
static double others(const struct vm_phase *phase,
		     const struct vm_phase_count *count)
{
	double sum = 0;

	for (unsigned i = 0; i <= VM_SIZE_BINS; i++) {
		double differs = share_of(count, i) - phase->share[i];

		sum += differs < 0 ? -differs : differs;
	}
	return sum / 2;
}

bool vm_phase_alike(const struct vm_phase *phase,
		    const struct vm_phase_count *count)
{
	return others(phase, count) <= SHARE_DIFFERS;
}

double vm_phase_distance(const struct vm_phase *phase,
			 const struct vm_phase_count *count, bool on)
{
	double known = phase->rate[on], rate = rate_of(count);
	double part = others(phase, count);
	double times = known <= 0   ? 1 :
		       rate > known ? rate / known :
				      known / rate;

	if (!(times <= RATE_DIFFERS) || part > SHARE_DIFFERS)
		return 2;
	return part + (times - 1) * RATE_WEIGHT;
}

void vm_phase_follow(struct vm_phase *phase, const struct vm_phase_count *count,
		     bool on)
{
	double rate = rate_of(count);

	phase->rate[on] =
		phase->rate[on] > 0 ?
			phase->rate[on] * (1 - FOLLOWS) + rate * FOLLOWS :
			rate;
}

void vm_phase_add(struct vm_phase_count *sum,
		  const struct vm_phase_count *count)
{
	for (unsigned i = 0; i < VM_SIZE_BINS; i++)
		sum->sizes[i] += count->sizes[i];
	sum->sent += count->sent;
	sum->received += count->received;
}

bool vm_phase_begins(const struct vm_phase_count *before,
		     const struct vm_phase_count *tick)
{
	struct vm_phase phase;

	if (before->sent + before->received < TICK_MESSAGES ||
	    tick->sent + tick->received < TICK_MESSAGES)
		return false;
	vm_phase_set(&phase, before, false);
	return vm_phase_distance(&phase, tick, false) > 1;
}
