/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the node processes say about a deadlock, which they find by themselves
 * (core/runtime/deadlock.h): lines in a pipe that they inherit.
 *
 *	near WAVE TEXT		a message nearly matches; of the same WAVE as
 *	deadlock WAVE HOW	report it, and end the job if HOW is "end"
 */
#ifndef VMPIRUN_HANG_H
#define VMPIRUN_HANG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/standard.h"

#define HANG_LINE_MAX 400
#define HANG_NEAR_MAX 32

struct hang {
	int ends[2]; /* -1: there is none */
	char line[HANG_LINE_MAX];
	size_t used;
	struct {
		unsigned wave;
		char text[HANG_LINE_MAX];
	} near[HANG_NEAR_MAX];
	unsigned near_count;
};

/* Makes the pipe; without one deadlocks are not reported by vmpirun. */
void hang_init(struct hang *hang);
void hang_fini(struct hang *hang);

/* The text for VMPI_JOB_HANG, with a copy of the descriptor that survives exec;
 * false: there is none. */
bool hang_describe(const struct hang *hang, char text[VM_STANDARD_HANDED_MAX]);

enum hang_found { HANG_NOTHING, HANG_REPORT, HANG_END };

/* Reads what is there.  After a deadlock was found: says what it is, from the
 * files of the job. */
enum hang_found hang_read(struct hang *hang, const char *job);

#endif
