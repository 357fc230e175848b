/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two forms of what report/live/states.h says.
 */
#include "states.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "report/cli.h"
#include "report/json.h"
#include "report/live/stacks.h"
#include "report/live/states.h"

#define LINES_MAX 20 /* a screen, with the job's line and the deadlock's */

static void line_print(const char *line, void *arg)
{
	(void)arg;
	puts(line);
}

/* What the ranks do, and what their stacks say about those that seem to run,
 * while that says more; notes are to be freed. */
static int look(struct vm_states *states, struct vm_stack_note **notes,
		const struct vm_live_job *job)
{
	int rc = vm_states_init(states, job);
	struct vm_stacks *stacks = NULL;

	*notes = NULL;
	if (rc) {
		vm_cli_say("out of memory for %u ranks",
			   vm_live_job_head(job)->ranks);
		return rc;
	}
	if (vm_stacks_tell(states))
		stacks = vm_stacks_read(job, -1);
	if (stacks)
		*notes = calloc(states->count, sizeof(**notes));
	if (*notes)
		vm_stacks_notes(stacks, *notes, states->count);
	states->notes = *notes;
	vm_stacks_free(stacks);
	return 0;
}

int states_text(const struct vm_live_job *job, bool all)
{
	struct vm_stack_note *notes;
	struct vm_states states;
	int rc = look(&states, &notes, job);

	if (rc)
		return rc;
	printf("job %s: %s, %s\n", job->name, vm_live_job_head(job)->program,
	       vm_live_job_state(job));
	rc = vm_states_say(&states, all ? 0 : LINES_MAX, line_print, NULL);
	if (rc)
		vm_cli_say("out of memory for %u ranks", states.count);
	vm_states_fini(&states);
	free(notes);
	return rc;
}

int stacks_text(const struct vm_live_job *job, long rank)
{
	int rc;

	printf("job %s: %s, %s\n", job->name, vm_live_job_head(job)->program,
	       vm_live_job_state(job));
	rc = vm_stacks_say(job, rank, 0, line_print, NULL);
	if (rc == -VMPI_ENOMEM)
		vm_cli_no_memory();
	return rc;
}

static void rank_json(const struct vm_states *states, unsigned rank)
{
	const struct vm_live_doing *doing = &states->doing[rank];
	const char *call = vm_states_call(states, rank);
	char text[VM_STATES_TEXT_MAX];

	vm_states_rank(states, text, rank);
	printf("{\"rank\":%u,\"state\":\"%s\",\"call\":\"%s\",\"peer\":%d,"
	       "\"tag\":%d,\"context\":%u,\"bytes\":%llu,\"text\":",
	       rank,
	       states->known[rank] ? vm_live_state_word(doing->state) :
				     "elsewhere",
	       call ? call : "", (int)doing->wait.peer, (int)doing->wait.tag,
	       doing->wait.context, (unsigned long long)doing->wait.bytes);
	vm_json_string(stdout, text);
	printf(",\"stuck\":%s}", states->needs[rank].stuck ? "true" : "false");
}

int states_json(const struct vm_live_job *job)
{
	struct vm_states states;
	struct vm_stack_note *notes;
	unsigned ended = 0, length;
	unsigned *circle;

	if (look(&states, &notes, job))
		return -VMPI_ENOMEM;
	circle = vm_states_circle(&states, &length, &ended);
	fputs("{\"job\":", stdout);
	vm_json_string(stdout, job->name);
	printf(",\"state\":\"%s\",\"ranks\":[", vm_live_job_state(job));
	for (unsigned r = 0; r < states.count; r++) {
		if (r)
			putchar(',');
		rank_json(&states, r);
	}
	fputs("],\"deadlock\":[", stdout);
	for (unsigned i = 0; i < length; i++)
		printf("%s%u", i ? "," : "", circle[i]);
	puts("]}");
	free(circle);
	vm_states_fini(&states);
	free(notes);
	return 0;
}
