/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By sorting: at most some thousand numbers, once a picture.
 */
#include "spread.h"

#include <stdlib.h>

static int number_compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

struct spread spread_of(double *numbers, int count)
{
	qsort(numbers, (size_t)count, sizeof(*numbers), number_compare);
	return (struct spread){
		.least = numbers[0],
		.median = (numbers[(count - 1) / 2] + numbers[count / 2]) / 2,
		.most = numbers[count - 1],
	};
}
