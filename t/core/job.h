/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a function as the ranks of a job inside of a test program.
 *
 * Ranks do not print a line per check: EXPECT() counts what did not hold and
 * says where, job() makes one check of it all.
 */
#ifndef T_CORE_JOB_H
#define T_CORE_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tap.h"
#include "vmpi.h"

static _Atomic int job_faults;

/* A statement: counts it when cond does not hold. */
#define EXPECT(cond)                                          \
	do {                                                  \
		if (!(cond))                                  \
			job_fault(__FILE__, __LINE__, #cond); \
	} while (0)

/* Counts a fault, prints the first few. */
static inline void job_fault(const char *file, int line, const char *what)
{
	if (atomic_fetch_add(&job_faults, 1) < 10)
		diag("%s:%d: rank %d: %s", file, line, vmpi_rank(), what);
}

/* The faults since the last call. */
static inline int job_faults_take(void)
{
	return atomic_exchange(&job_faults, 0);
}

static inline int job_main(void *arg)
{
	void (*const *body)(int rank, int size) = arg;

	(*body)(vmpi_rank(), vmpi_size());
	return 0;
}

/* Runs body as `ranks` ranks on so many workers; one check: nothing failed. */
static inline void job(int ranks, int workers, void (*body)(int rank, int size),
		       const char *name)
{
	vmpi_config config = { .ranks = ranks, .workers = workers };
	int rc = vmpi_run(&config, job_main, &body);

	if (rc)
		bail("%d ranks on %d workers: %s", ranks, workers,
		     vmpi_strerror(rc));
	is_int(job_faults_take(), 0, "%s (%d ranks on %d workers)", name, ranks,
	       workers);
}

/* A number that looks random and depends on all bits of x. */
static inline uint64_t job_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Fills bytes with what follows from seed; whether they are that. */
static inline void job_fill(void *buffer, size_t bytes, uint64_t seed)
{
	unsigned char *byte = buffer;

	for (size_t i = 0; i < bytes; i++)
		byte[i] = (unsigned char)((seed + i) * 131 >> 3);
}

static inline bool job_filled(const void *buffer, size_t bytes, uint64_t seed)
{
	const unsigned char *byte = buffer;

	for (size_t i = 0; i < bytes; i++)
		if (byte[i] != (unsigned char)((seed + i) * 131 >> 3))
			return false;
	return true;
}

#endif
