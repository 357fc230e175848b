/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a rank: its copy's main and its end.
 */
#ifndef RANK_H
#define RANK_H

#include <stdbool.h>

/* The body of every rank, a vmpi_body. */
int rank_main(void *arg);

/* Gives a copy arguments of its own; false: out of memory. */
struct vm_image_copy;
bool rank_words(struct vm_image_copy *copy, int argc, char *const *argv);

/*
 * Ends the calling rank, as by exit(status), or by _exit(status) when
 * `handlers` is false.  Returns only when the caller is no rank, or is a child
 * process: then the process is to be ended.
 */
void rank_end(int status, bool handlers);

#endif
