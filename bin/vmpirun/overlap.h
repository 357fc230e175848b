/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --overlap: where the node processes leave their measures, and the report
 * about them at the end.
 */
#ifndef VMPIRUN_OVERLAP_H
#define VMPIRUN_OVERLAP_H

#include "options.h"

/* Takes --overlap[=DIR]: sets the variables of the job. */
int overlap_take(struct options *options, const char *directory);

/* Before the start: the directory is there, without an older report, and so is
 * the table of transfer times.  0, or -VMPI_E... after one line. */
int overlap_check(const struct options *options);

/* Writes the report, when all processes have ended.  0, or -VMPI_E... after one
 * line. */
int overlap_report(const struct options *options, int processes);

#endif
