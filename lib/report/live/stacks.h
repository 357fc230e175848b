/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call stacks of a job's ranks in words: also of those that wait.
 */
#ifndef REPORT_LIVE_STACKS_H
#define REPORT_LIVE_STACKS_H

#include "report/live/job.h"
#include "report/live/states.h"

struct vm_stacks;

/*
 * Reads the stacks of the ranks on this host, or of one rank (-1: all).
 * Processes are stopped for milliseconds.  NULL: out of memory; what else goes
 * wrong is said by vm_stacks_print().
 */
struct vm_stacks *vm_stacks_read(const struct vm_live_job *job, long rank);
void vm_stacks_free(struct vm_stacks *stacks);

/*
 * Whether stacks say more about ranks that seem to run: some process has more
 * workers with something to do, or such a rank, than threads that run, so a
 * thread waits in the kernel with a rank on it.  The processes are not stopped
 * for that.
 */
bool vm_stacks_tell(const struct vm_states *states);

/* What they say about each of so many ranks, in notes[count]. */
void vm_stacks_notes(const struct vm_stacks *stacks,
		     struct vm_stack_note *notes, unsigned count);

/*
 * Prints the stacks, equal ones together, at most `most` of them (0: all), in
 * lines: "rank 3, at:" and then the functions, the innermost first.  What the
 * runtime does inside a call is left out.  If something cannot be read, a line
 * says why.  0; -VMPI_ENOMEM; -VMPI_ENOTSUP: nothing could be read.
 */
int vm_stacks_print(const struct vm_stacks *stacks, unsigned most,
		    vm_states_line line, void *arg);

/* Reads and prints. */
int vm_stacks_say(const struct vm_live_job *job, long rank, unsigned most,
		  vm_states_line line, void *arg);

#endif
