/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profiler for MPI programs, by the profiling interface: what each rank spent
 * in which MPI function, as wall-clock time and as rank time.
 */
#ifndef PROFILE_H
#define PROFILE_H

/* Seconds that the calling rank has spent in these functions so far. */
struct profile_times {
	long calls;
	double wall; /* also what other ranks of the core did meanwhile */
	double rank; /* what the rank itself did */
};

/* The times of a function by its name, such as "MPI_Recv". */
struct profile_times profile_of(const char *name);

#endif
