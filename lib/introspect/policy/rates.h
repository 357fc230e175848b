/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What policies decide by: variables, and the rates of windows.
 *
 * The rate in a window is the slope of a line through what was counted up to each
 * tick.  Programs send in bursts, and of a window's ends alone the one or the
 * other has a burst more.
 */
#ifndef INTROSPECT_POLICY_RATES_H
#define INTROSPECT_POLICY_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "vmpi_policy.h"

#define VM_RATE_PERCENT 4 /* to so much the rate of a window is to be known */
#define VM_RATE_TICKS_MAX 400 /* unless that would take so long */

/* Of (seconds, messages) since a window began, at each of its ticks. */
struct vm_slope {
	uint64_t ticks;
	double s, m, ss, sm, mm; /* sums of these and of products */
};

static inline void vm_slope_add(struct vm_slope *slope, uint64_t ns,
				uint64_t messages)
{
	double s = (double)ns / 1e9, m = (double)messages;

	slope->ticks++;
	slope->s += s;
	slope->m += m;
	slope->ss += s * s;
	slope->sm += s * m;
	slope->mm += m * m;
}

/* Messages per second; 0: there are too few ticks. */
static inline double vm_slope_rate(const struct vm_slope *slope)
{
	double n = (double)slope->ticks,
	       wide = n * slope->ss - slope->s * slope->s;

	return wide > 0 ? (n * slope->sm - slope->s * slope->m) / wide : 0;
}

/* Whether its standard error is small enough, or will not be soon. */
static inline bool vm_slope_known(const struct vm_slope *slope)
{
	double n = (double)slope->ticks;
	double wide = n * slope->ss - slope->s * slope->s;
	double high = n * slope->mm - slope->m * slope->m;
	double rate = vm_slope_rate(slope);
	double most = rate * VM_RATE_PERCENT / 100;

	if (slope->ticks >= VM_RATE_TICKS_MAX)
		return true;
	return slope->ticks > 2 &&
	       high - rate * rate * wide <= most * most * wide * (n - 2);
}

/* A control variable; a counter, 0 where there is none yet. */
static inline int64_t vm_tuner_control(vmpi_tuner *tuner, int number)
{
	int64_t value = 0;

	tuner->control_read(tuner, number, &value);
	return value;
}

static inline uint64_t vm_tuner_counter(vmpi_tuner *tuner, int number)
{
	uint64_t value = 0;

	tuner->total(tuner, number, &value, 1);
	return value;
}

#endif
