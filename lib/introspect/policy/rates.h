/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What policies decide by: variables, and the rates of the last windows, whose
 * median is one number that a single strange window does not move.
 */
#ifndef INTROSPECT_POLICY_RATES_H
#define INTROSPECT_POLICY_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "vmpi_policy.h"

#define VM_RATES 3

struct vm_rates {
	double last[VM_RATES]; /* messages per second, the newest first */
	unsigned count;	       /* of them that there are */
};

static inline bool vm_rates_full(const struct vm_rates *rates)
{
	return rates->count == VM_RATES;
}

static inline void vm_rates_add(struct vm_rates *rates, uint64_t messages,
				uint64_t ns)
{
	for (unsigned i = VM_RATES - 1; i > 0; i--)
		rates->last[i] = rates->last[i - 1];
	rates->last[0] = ns > 0 ? (double)messages * 1e9 / (double)ns : 0;
	if (rates->count < VM_RATES)
		rates->count++;
}

/* Of all; 0: there are too few. */
static inline double vm_rates_median(const struct vm_rates *rates)
{
	double a = rates->last[0], b = rates->last[1], c = rates->last[2];

	if (!vm_rates_full(rates))
		return 0;
	if (a > b)
		return b > c ? b : a > c ? c : a;
	return a > c ? a : b > c ? c : b;
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
