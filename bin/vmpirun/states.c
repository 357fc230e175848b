/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node processes are not asked: they may hang.  Their files are read, as
 * vmpistat --states does it (report/live/states.h).
 */
#include "states.h"

#include <stdbool.h>
#include <stdlib.h>

#include "introspect/export/export.h"
#include "report/cli.h"
#include "report/live/stacks.h"
#include "report/live/states.h"

#define LINES_MAX 16
#define STACKS_MAX 8

static void line_say(const char *line, void *arg)
{
	(void)arg;
	vm_cli_say("%s", line);
}

/* Says the states with what the stacks say about them, and the stacks. */
static void job_say(struct vm_states *states, const struct vm_live_job *job)
{
	struct vm_stacks *stacks = vm_stacks_read(job, -1);
	struct vm_stack_note *notes = calloc(states->count, sizeof(*notes));

	if (stacks && notes) {
		vm_stacks_notes(stacks, notes, states->count);
		states->notes = notes;
	}
	vm_states_say(states, LINES_MAX, line_say, NULL);
	if (stacks)
		vm_stacks_print(stacks, STACKS_MAX, line_say, NULL);
	vm_stacks_free(stacks);
	free(notes);
}

static void say(const char *name, bool hung)
{
	struct vm_live_jobs jobs;
	struct vm_states states;

	/* Without memory for it there are more urgent things. */
	if (vm_live_jobs_find(&jobs, VM_EXPORT_DIR, name, NULL))
		return;
	if (jobs.count && !(hung ? vm_states_init_hung :
				   vm_states_init)(&states, &jobs.list[0])) {
		if (states.count)
			job_say(&states, &jobs.list[0]);
		vm_states_fini(&states);
	}
	vm_live_jobs_free(&jobs);
}

void states_say(const char *job)
{
	say(job, false);
}

void states_hang_say(const char *job)
{
	say(job, true);
}
