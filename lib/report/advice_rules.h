/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules of advice.c that are about time, and what all rules use: a rule returns
 * its weight, of 1000, after writing its sentence, or 0.
 */
#ifndef REPORT_ADVICE_RULES_H
#define REPORT_ADVICE_RULES_H

#include <stdbool.h>

#include "report/advice.h"

typedef unsigned vm_advice_rule(char *text,
				const struct vm_advice_facts *facts);

vm_advice_rule vm_advice_rule_balance, vm_advice_rule_heavy,
	vm_advice_rule_serial, vm_advice_rule_sender, vm_advice_rule_receiver,
	vm_advice_rule_small;

/* Whether it is the name of a collective call. */
bool vm_advice_is_collective(const char *name);

/* part of all, of 1000. */
static inline unsigned vm_advice_permille(uint64_t part, uint64_t all)
{
	if (!all)
		return 0;
	return part >= all ? 1000 :
			     (unsigned)((double)part * 1000 / (double)all);
}

/* "18.3 %" is written as 183 of 1000 with this. */
#define PERCENT "%u.%u %%"
#define IN_PERCENT(of_1000) (of_1000) / 10, (of_1000) % 10

/* Time in which workers ran no rank, of all their time. */
static inline unsigned vm_advice_idle(const struct vm_advice_facts *facts)
{
	return 1000 - vm_advice_permille(facts->run_ns,
					 facts->wall_ns * facts->workers);
}

#endif
