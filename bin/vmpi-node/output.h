/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard output and error of ranks that share a process: whole lines.
 *
 * With several ranks, labels or files, `stdout` and `stderr` are streams that
 * hand every write to the line assembler of the calling rank.  A line leaves
 * when it is complete, or as far as the rank has flushed it.  Then other ranks'
 * lines wait up to core_output_wait for its end, or begin with a newline; where
 * lines have labels, it waits itself.  One rank alone keeps libc's streams.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "core/image/image.h"

struct vm_job;

/* Replaces the streams if the job asks for it; before anything is printed.  0
 * or -VMPI_EIO (logged). */
int output_start(const struct vm_job *job);

/* Frees the buffers when all ranks have ended. */
void output_stop(void);

/* Whether output was lost, which has been said. */
bool output_failed(void);

/* Whether the streams are ours. */
bool output_active(void);

/* 1 or 2 for our streams, else 0. */
int output_stream(const FILE *file);

/* Writes the copy's output to fd 1 or 2; as write(2).  flushed: also a line that
 * is not complete. */
ssize_t output_write(struct vm_image_copy *copy, int fd, const char *bytes,
		     size_t count, bool flushed);

/* Flushes the copy's stream fd, as fflush(3). */
void output_show(struct vm_image_copy *copy, int fd);

/* Sets whether all that is written to the stream is flushed. */
void output_eager(struct vm_image_copy *copy, int fd, bool eager);

/* Writes out all that a rank which ends has written. */
void output_flush(struct vm_image_copy *copy);

/* Ends the output of a copy that is going to be unloaded. */
void output_end(struct vm_image_copy *copy);

/* Writes out such beginnings of all ranks: the process is about to end.  To be
 * called in signal handlers, too. */
void output_rescue(void);

/* Redirects the copy's stream fd to the file.  0 or -1 (errno). */
int output_redirect(struct vm_image_copy *copy, int fd, const char *path,
		    const char *mode);

#endif
