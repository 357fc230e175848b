/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output of ranks that are processes: with their numbers before each line,
 * or in files.
 *
 * Each process writes into two pipes, and a thread of ours copies lines to
 * standard output and error, or all to files: when those are not read, the
 * ranks wait and vmpirun does not.  The beginning of a line follows when its end
 * has not come for a while, as with ranks that share a process
 * (bin/vmpi-node/output.h).
 */
#ifndef VMPIRUN_RELAY_H
#define VMPIRUN_RELAY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "report/outlet.h"

struct relay_stream;

/* All zero: there is none, and only relay_fini() is called, or relay_start(),
 * which then does nothing. */
struct relay {
	int count, room;
	struct relay_stream *streams;	/* [count] */
	struct vm_outlet_line begun[2]; /* in standard output and error, */
	bool one_place;			/* which may be one file */
	char *sheet;			/* what is written at once */
	size_t sheet_used, sheet_room;
	int stop; /* eventfd: all processes have ended */
	bool running;
	bool failed; /* output was lost, which has been said */
	pthread_t thread;
};

/* For so many processes.  Results here: 0, or -VMPI_E... after one line. */
int relay_init(struct relay *relay, int processes);

/* Gives the standard output and error of process `rank`, which are the caller's
 * to close.  They go to the files stem.out and stem.err, or, if it is NULL, to
 * ours. */
int relay_add(struct relay *relay, int output[2], int rank, const char *stem);

/* Begins to read.  Signals that the caller has blocked stay so. */
int relay_start(struct relay *relay);

/* The processes have ended: writes what they have left.  0; -VMPI_EIO: output
 * was lost. */
int relay_stop(struct relay *relay);

/* As relay_stop(), and frees it. */
void relay_fini(struct relay *relay);

#endif
