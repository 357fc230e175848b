/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of the job to show.
 */
#ifndef VMPITOP_JOBS_H
#define VMPITOP_JOBS_H

#include <stdio.h>

#include "report/live/job.h"

/* A line for each. */
void jobs_print(const struct vm_live_jobs *jobs, FILE *out);

/* The job to show: the one called name, or, with NULL, the only one that lives;
 * NULL after a line to standard error. */
const struct vm_live_job *jobs_choose(const struct vm_live_jobs *jobs,
				      const char *name);

/* How many of them run. */
unsigned jobs_living(const struct vm_live_jobs *jobs);

#endif
