/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank has written to one stream and what has not left yet.
 *
 * All of the first `due` bytes may leave, and wait since due_ns: for another
 * rank's line, or for the end of one that is to have a label.
 */
#ifndef OUTPUT_LINE_H
#define OUTPUT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output_line {
	char *text;
	size_t used, room, due;
	uint64_t due_ns;
	int fd;	       /* a file of this rank, or -1 */
	bool redirect; /* by the program itself */
	bool eager;    /* a stream without a buffer: all may leave */
};

/* Keeps bytes.  False: out of memory. */
bool output_line_keep(struct output_line *line, const char *bytes,
		      size_t count);

/* Takes the first bytes away; nothing is due then. */
void output_line_drop(struct output_line *line, size_t count);

/* Takes all away, and the memory. */
void output_line_free(struct output_line *line);

#endif
