/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The least, the median and the greatest of some numbers.
 */
#ifndef VMPITOP_SPREAD_H
#define VMPITOP_SPREAD_H

struct spread {
	double least, median, most;
};

/* Of count numbers, at least one, which it sorts.  The median of an even count
 * is the mean of the two in the middle. */
struct spread spread_of(double *numbers, int count);

#endif
