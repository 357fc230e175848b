/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The forms of output, to standard output.
 */
#ifndef VMPISTAT_PRINT_H
#define VMPISTAT_PRINT_H

#include "sample.h"

/* A line per job, those that live first. */
void list_text(const struct vm_live_jobs *jobs);
void list_json(const struct vm_live_jobs *jobs);

/* A job's variables that are not 0 or were named, in units for people; with a
 * time since the last sample, those that grow as rates too.  With choice->all:
 * all of them, exactly, and control variables. */
void sample_text(const struct sample *sample, struct choice *choice);
/* One line. */
void sample_json(const struct sample *sample, struct choice *choice);
/* Prometheus's text format, with the names of OpenMetrics. */
void sample_prometheus(const struct sample *sample,
		       const struct choice *choice);

/* "12 s", "3 min", "2 h 5 min" */
void age_format(char text[32], double seconds);

#endif
