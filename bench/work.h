/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computing for benchmarks: a fixed amount of work, not a fixed time, so that
 * it takes longer when the core has something else to do.
 */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include <time.h>

/* us since some moment. */
static inline double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static inline void work(long loops)
{
	volatile double x = 1;

	for (long i = 0; i < loops; i++)
		x = x * 1.0000001 + 1e-9;
}

/* The number of loops that take so many us on a core of their own. */
static inline long work_loops(double us)
{
	const long loops = 200000;
	double best = 1e30;

	for (int i = 0; i < 20; i++) {
		double start = now();

		work(loops);
		if (now() - start < best)
			best = now() - start;
	}
	return (long)(us / best * (double)loops);
}
#endif
