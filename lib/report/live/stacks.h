/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call stacks of a job's ranks in words: also of those that wait.
 */
#ifndef REPORT_LIVE_STACKS_H
#define REPORT_LIVE_STACKS_H

#include "report/live/job.h"
#include "report/live/states.h"

/*
 * Prints the stacks of the ranks on this host, or of one rank, equal ones
 * together, at most `most` of them (0: all), in lines: "rank 3, at:" and then
 * the functions, the innermost first.  What the runtime does inside a call is
 * left out.  If something cannot be read, a line says why.  Processes are
 * stopped for milliseconds.  0; -VMPI_ENOMEM; -VMPI_ENOTSUP: nothing could be
 * read.
 */
int vm_stacks_say(const struct vm_live_job *job, long rank, unsigned most,
		  vm_states_line line, void *arg);

#endif
