/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways for a thread to receive a message of unknown size: learn the size,
 * make a buffer, receive.
 */
#ifndef BENCH_MPROBE_WAY_H
#define BENCH_MPROBE_WAY_H

#include <mpi.h>
#include <stdbool.h>

/* The receives that a program uses: only without wildcards, only from any
 * source with any tag, or all kinds. */
enum pattern { DIRECTED, ANY, MIXED };

/* The message that a receiver finally has. */
struct parcel {
	int source, tag,
		bytes; /* what it was promised before it had a buffer */
	void *data;    /* malloc()ed for that promise */
	bool kept; /* what came is from there, with that tag and that long */
};

struct way {
	const char *name;
	/* Receivers are never given what another one was promised. */
	bool safe;
	/* Knows how to do with all kinds of receives at once. */
	bool mixes;
	/* Its probe and its receive are separate calls, so that other threads
	 * may run between them. */
	bool splits;
	void (*open)(MPI_Comm comm, enum pattern pattern);
	void (*take)(struct parcel *parcel, int source, int tag);
	void (*close)(void);
};

#define WAYS 5
extern const struct way ways[WAYS];

/* Called by ways that split, between the probe and the receive, if set. */
extern void (*way_between)(void);

#endif
