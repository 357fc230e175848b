/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by all benchmarks: the time, the median, and the number of
 * repetitions.
 *
 * Times are nanoseconds.  A measurement is the median of a few batches, each
 * long enough that the clock (a step of 10 ns on some machines) does not show.
 */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCHES_MAX 16

/* The duration of a batch, and the number of batches. */
struct effort {
	double batch_ns;
	int batches;
};

/* `--quick` as the first argument: less of everything. */
static inline struct effort effort_of(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--quick"))
		return (struct effort){ .batch_ns = 1e6, .batches = 5 };
	return (struct effort){ .batch_ns = 1e7, .batches = 11 };
}

static inline double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int double_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts values. */
static inline double median_of(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), double_order);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The number of repetitions in a batch when n of them took `took` ns. */
static inline int batch_size(const struct effort *effort, int n, double took)
{
	double more = effort->batch_ns / (took / n);

	return more < 1 ? 1 : more > 1e8 ? 100000000 : (int)more;
}

#endif
