/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames: several streams and some words over one connection, as between the
 * two ends of an ssh.
 *
 * A frame is a letter, the number of bytes (4, the lowest first) and the bytes.
 * Nothing blocks: what cannot be written yet is kept.
 */
#ifndef VMPIRUN_FRAME_H
#define VMPIRUN_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#define FRAME_HEAD 5
#define FRAME_BYTES_MAX (1u << 20)
#define FRAME_KEPT_MAX (1u << 18) /* then take in no more */

enum frame_type {
	/* To the other host. */
	FRAME_VARIABLE = 'V', /* NAME=VALUE */
	FRAME_WORD = 'W',     /* of the command */
	FRAME_FOLDER = 'D',   /* in which it runs */
	FRAME_START = 'S',
	FRAME_INPUT = 'I',  /* standard input; empty: its end */
	FRAME_SIGNAL = 'K', /* a number */
	/* In both directions; empty: closed. */
	FRAME_PMI = 'P',
	/* From there. */
	FRAME_OUTPUT = 'O',
	FRAME_ERROR = 'E',
	FRAME_TAKEN = 'T', /* so many bytes of standard input have been read */
	FRAME_OTHER = 'M', /* the path of another MPI that it has loaded */
	FRAME_ENDED = 'X', /* the status of wait() */
};

struct frame_sink {
	int fd; /* -1: gone */
	char *bytes;
	size_t begin, end, room;
};

struct frame_source {
	int fd; /* -1: at its end */
	char *bytes;
	size_t begin, end, room;
};

/* A frame that was received; valid until the next frame_fill(). */
struct frame {
	char type;
	const char *bytes;
	size_t length;
};

/* Adds a frame, and writes what can be written. */
void frame_put(struct frame_sink *sink, enum frame_type type, const void *bytes,
	       size_t length);
void frame_put_text(struct frame_sink *sink, enum frame_type type,
		    const char *text);
void frame_put_number(struct frame_sink *sink, enum frame_type type,
		      long number);
/* Adds bytes without a head. */
void frame_keep(struct frame_sink *sink, const void *bytes, size_t length);
void frame_flush(struct frame_sink *sink);
size_t frame_kept(const struct frame_sink *sink);

/* Reads what there is.  false: nothing more will come. */
bool frame_fill(struct frame_source *source);
/* The next frame that is complete: 1; 0: there is none; -1: it is no frame. */
int frame_next(struct frame_source *source, struct frame *frame);
long frame_number(const struct frame *frame);
/* Leaves out everything up to a text and the text itself; whether it was there.
 * What is left out goes to standard error. */
bool frame_skip(struct frame_source *source, const char *text);

void frame_sink_fini(struct frame_sink *sink);
void frame_source_fini(struct frame_source *source);

/* Writes all bytes, waiting for it. */
int frame_write(int fd, const char *bytes, size_t length);

#endif
