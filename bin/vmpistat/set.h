/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --set: control variables of a job that runs, by its control sockets.
 */
#ifndef VMPISTAT_SET_H
#define VMPISTAT_SET_H

#include "report/live/job.h"

/*
 * Sets what "NAME=VALUE" says in all processes of the job, or (rank not
 * negative) for one rank.  0; 2: the job takes it not; 1: it does not answer;
 * both said.
 */
int job_set(const struct vm_live_job *job, const char *setting, long rank);

#endif
