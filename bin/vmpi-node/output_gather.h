/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is about to be written: many lines leave by one system call.
 */
#ifndef OUTPUT_GATHER_H
#define OUTPUT_GATHER_H

#include <stdbool.h>
#include <stddef.h>

#define OUTPUT_GATHER_BYTES 65536

struct output_gather {
	/* Other processes write to the same pipes: what leaves at once is what
	 * a pipe takes at once. */
	bool pieces;
	size_t used;
	char bytes[OUTPUT_GATHER_BYTES];
};

/* Adds bytes; whole lines leave if there is no more room.  Results here: 0, or
 * -1 with errno. */
int output_gather(struct output_gather *gather, int fd, const char *bytes,
		  size_t count);

/* Adds lines with their label, which may be "".  *inside: the first one has begun
 * already, and then, whether the last one has no end. */
int output_gather_lines(struct output_gather *gather, int fd, const char *bytes,
			size_t count, const char *label, bool *inside);

/* Writes all. */
int output_gather_flush(struct output_gather *gather, int fd);

#endif
