/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rank waits for which, in words, whether that can ever end, and where in
 * the program they are.
 */
#ifndef VMPISTAT_STATES_H
#define VMPISTAT_STATES_H

#include <stdbool.h>

#include "report/live/job.h"

/* Prints what each rank does, equal ones together, in a screenful of lines or in
 * all, and the deadlock, if there is one.  Looks twice at a job that runs, a moment apart.  0, -VMPI_ENOMEM
 * (said). */
int states_text(const struct vm_live_job *job, bool all);
int states_json(const struct vm_live_job *job);

/* Prints the stacks of all ranks, or of one.  0; -VMPI_ENOMEM, -VMPI_ENOTSUP
 * (said). */
int stacks_text(const struct vm_live_job *job, long rank);

#endif
