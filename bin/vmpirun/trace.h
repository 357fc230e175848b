/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --trace: where the node processes leave their records, and the text that is
 * made of them at the end.
 */
#ifndef VMPIRUN_TRACE_H
#define VMPIRUN_TRACE_H

#include "options.h"

/* Takes --trace FILE: sets the variable of the job. */
int trace_take(struct options *options, const char *path);

/* Before the start: the file can be written, and nothing is left of an earlier
 * job.  0, or -VMPI_E... after one line. */
int trace_check(const struct options *options, int processes);

/* Writes the trace, when all processes have ended, however they ended.  0, or
 * -VMPI_E... after one line. */
int trace_write(const struct options *options, int processes);

#endif
