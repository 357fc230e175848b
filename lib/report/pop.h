/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The efficiencies of the POP methodology: which part of the time of its cores a
 * program computes, and why not all of it.
 */
#ifndef REPORT_POP_H
#define REPORT_POP_H

#include <stdbool.h>

/* What the ranks of a core have had of it: outside of calls, and in calls. */
struct vm_pop_core {
	double useful, calls;
};

/*
 * All between 0 and 1, and
 *
 *	parallel = balance * communication
 *	communication = serialisation * transfer
 *
 * parallel: useful time of all cores by the time that they were there; balance:
 * the mean of it by the greatest; of the core that has most: transfer, the time
 * without that in calls, which move and match messages, by all of it;
 * serialisation, its useful time by that, the rest of which it has waited.
 */
struct vm_pop {
	unsigned cores;
	double elapsed, useful, calls; /* the time; sums over cores */
	double parallel, balance, communication, serialisation, transfer;
};

/* Of the whole, which has all cores, or of a section, which has those on which
 * ranks were in it.  False: nobody has computed; it has no cores then. */
bool vm_pop_of(struct vm_pop *pop, const struct vm_pop_core *cores,
	       unsigned count, double elapsed, bool whole);

#endif
