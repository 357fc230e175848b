/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node processes are not asked: they may hang.  Their files are read, as
 * vmpistat --states does it (report/live/states.h).
 */
#include "states.h"

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

void states_say(const char *job)
{
	struct vm_live_jobs jobs;
	struct vm_states states;

	/* Without memory for it there are more urgent things. */
	if (vm_live_jobs_find(&jobs, VM_EXPORT_DIR, job, NULL))
		return;
	if (jobs.count && !vm_states_init(&states, &jobs.list[0])) {
		if (states.count) {
			vm_states_say(&states, LINES_MAX, line_say, NULL);
			vm_stacks_say(&jobs.list[0], -1, STACKS_MAX, line_say,
				      NULL);
		}
		vm_states_fini(&states);
	}
	vm_live_jobs_free(&jobs);
}
