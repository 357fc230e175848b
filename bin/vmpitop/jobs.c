/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs in words, for users who have named none, or one that does not exist.
 */
#include "jobs.h"

#include <string.h>

#include "figure.h"
#include "report/cli.h"

/* Texts of a file go to a terminal. */
static void text_take(char to[64], const char *from)
{
	snprintf(to, 64, "%.63s", from);
	for (; *to; to++)
		if (*to < ' ' || *to > '~')
			*to = '?';
}

void jobs_print(const struct vm_live_jobs *jobs, FILE *out)
{
	for (unsigned i = 0; i < jobs->count; i++) {
		const struct vm_live_job *job = &jobs->list[i];
		const struct vm_export_head *head = vm_live_job_head(job);
		char name[64], program[64], age[FIGURE_MAX];

		text_take(name, job->name);
		text_take(program, head->program);
		figure_text(age, FIGURE_NS, vm_live_job_age(job) * 1e9);
		fprintf(out,
			"%-12s %s, %u rank%s on %u node%s, started %s ago%s\n",
			name, program, head->ranks, head->ranks == 1 ? "" : "s",
			head->nodes, head->nodes == 1 ? "" : "s", age,
			vm_live_job_lives(job) ? "" : ", is no longer running");
	}
}

/* No job has this name. */
static const struct vm_live_job *unknown(const struct vm_live_jobs *jobs,
					 const char *name)
{
	char text[VM_CLI_MISTAKE_MAX];
	struct vm_nearest nearest;

	vm_nearest_init(&nearest, name);
	for (unsigned i = 0; i < jobs->count; i++)
		vm_nearest_offer(&nearest, jobs->list[i].name);
	vm_cli_say("no job of yours here is called '%.60s'; %s", name,
		   vm_cli_meant(text, &nearest, "vmpitop --list lists them"));
	return NULL;
}

unsigned jobs_living(const struct vm_live_jobs *jobs)
{
	unsigned living = 0;

	for (unsigned i = 0; i < jobs->count; i++)
		living += vm_live_job_lives(&jobs->list[i]);
	return living;
}

const struct vm_live_job *jobs_choose(const struct vm_live_jobs *jobs,
				      const char *name)
{
	const struct vm_live_job *only = NULL;
	unsigned living = jobs_living(jobs);

	for (unsigned i = 0; i < jobs->count; i++) {
		const struct vm_live_job *job = &jobs->list[i];
		bool lives = vm_live_job_lives(job);

		if (name ? !strcmp(job->name, name) : lives)
			only = job;
	}
	if (name)
		return only ? only : unknown(jobs, name);
	if (living == 1)
		return only;
	if (!jobs->count)
		vm_cli_say("you have no running job on this host");
	else
		vm_cli_say("%s of your jobs run on this host; choose one with "
			   "vmpitop JOB:",
			   living ? "several" : "none");
	jobs_print(jobs, stderr);
	return NULL;
}
