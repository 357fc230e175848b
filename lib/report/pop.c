/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bounding core is the first of those with most useful time.
 */
#include "report/pop.h"

static double at_most_1(double part)
{
	return part < 1 ? part : 1;
}

bool vm_pop_of(struct vm_pop *pop, const struct vm_pop_core *cores,
	       unsigned count, double elapsed, bool whole)
{
	const struct vm_pop_core *most = cores;
	double without;

	*pop = (struct vm_pop){ .elapsed = elapsed };
	for (unsigned i = 0; i < count; i++) {
		if (whole || cores[i].useful > 0 || cores[i].calls > 0)
			pop->cores++;
		pop->useful += cores[i].useful;
		pop->calls += cores[i].calls;
		if (cores[i].useful > most->useful)
			most = &cores[i];
	}
	if (elapsed <= 0 || pop->useful <= 0) {
		pop->cores = 0;
		return false;
	}
	/* Clocks of different cores may differ a little. */
	if (elapsed < most->useful + most->calls)
		elapsed = pop->elapsed = most->useful + most->calls;
	without = elapsed - most->calls;
	pop->balance = pop->useful / (pop->cores * most->useful);
	pop->serialisation = at_most_1(most->useful / without);
	pop->transfer = at_most_1(without / elapsed);
	pop->communication = pop->serialisation * pop->transfer;
	pop->parallel = pop->balance * pop->communication;
	return true;
}
