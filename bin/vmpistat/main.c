/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpistat: what the jobs of this user do, seen from outside.
 *
 * It reads the files in which processes keep their counters
 * (report/live/file.h) and asks them for nothing, so that they notice
 * nothing, and need not even live.
 */
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/standard.h"
#include "report/cli.h"
#include "report/live/job.h"
#include "report/option.h"
#include "print.h"
#include "sample.h"
#include "set.h"
#include "states.h"
#include "vmpi.h"

const char vm_cli_program[] = "vmpistat";

enum form { FORM_TEXT, FORM_JSON, FORM_PROMETHEUS };

/* The user's request. */
struct options {
	enum form form;
	bool states, stacks, clean;
	const char *job;
	const char *set; /* NAME=VALUE */
	struct choice choice;
};

/* "all" or a number, which goes to *one; all: -1. */
static int one_take(long *one, const char *option, const char *text)
{
	int number;

	*one = -1;
	if (strcmp(text, "all") == 0)
		return 0;
	if (vm_option_number(&number, option, text, "all, or a number", 0,
			     999999))
		return -VMPI_EINVAL;
	*one = number;
	return 0;
}

static int rank_take(struct options *options, const char *text)
{
	options->choice.ranks = true;
	return one_take(&options->choice.rank, "--rank", text);
}

static int worker_take(struct options *options, const char *text)
{
	options->choice.workers = true;
	return one_take(&options->choice.worker, "--worker", text);
}

static int every_take(struct options *options, const char *text)
{
	return vm_option_seconds(&options->choice.every_s, "--every", text,
				 0.0001, 86400);
}

static int count_take(struct options *options, const char *text)
{
	return vm_option_number(&options->choice.count, "--count", text,
				"a number", 1, INT_MAX);
}

static int json_take(struct options *options, const char *text)
{
	options->form = FORM_JSON;
	return 0;
}

static int prometheus_take(struct options *options, const char *text)
{
	options->form = FORM_PROMETHEUS;
	return 0;
}

VM_CLI_FLAG(states, states)
VM_CLI_FLAG(stacks, stacks)
VM_CLI_FLAG(clean, clean)
VM_CLI_FLAG(all, choice.all)
VM_CLI_TEXT(set, set)

static int operand_take(struct options *options, char **words)
{
	if (!options->job)
		options->job = words[0];
	else
		options->choice.names[options->choice.name_count++] = words[0];
	return 0;
}

static const struct vm_cli_row option_rows[] = {
	{ "rank", 0, "RANK|all", 0, "The values of this rank, or of all ranks",
	  0, rank_take },
	{ "worker", 0, "WORKER|all", 0,
	  "The values of this worker in each process, or of all "
	  "workers",
	  0, worker_take },
	{ "all", 'a', 0, 0,
	  "Variables that are 0, too, all digits, and control "
	  "variables; with --states, all lines",
	  0, all_take },
	{ "states", 0, 0, 0, "What each rank does or waits for, and deadlocks",
	  0, states_take },
	{ "stacks", 0, 0, 0,
	  "The call stack of each rank (with --rank, of one rank); "
	  "stops the job for milliseconds",
	  0, stacks_take },
	{ "every", 'e', "SECONDS", 0,
	  "Repeat at this interval, with rates, until the job has "
	  "ended",
	  1, every_take },
	{ "count", 0, "N", 0, "With --every: stop after N samples", 1,
	  count_take },
	{ "json", 0, 0, 0, "One line of JSON per sample", 2, json_take },
	{ "prometheus", 0, 0, 0,
	  "Prometheus text format, of this job or of all jobs", 2,
	  prometheus_take },
	{ "set", 0, "NAME=VALUE", 0,
	  "Set a control variable (with --rank, for one rank) of a "
	  "job started with vmpirun --control",
	  3, set_take },
	{ "clean", 0, 0, 0, "Remove the files of killed jobs", 3, clean_take },
	{ "help", 'h', 0, 0, "Print this text", 4, vm_cli_help },
	{ "version", 'V', 0, 0, "Print the version", 4, vm_cli_version },
};

static const struct vm_cli command_line = {
	VM_CLI_ROWS(option_rows),
	.operands = "[JOB [NAME...]]",
	.doc = "Show what your jobs on this host do, or did before they "
	       "were killed.\vWithout JOB: one line per job.  JOB is the "
	       "number in that list, which is that of its vmpirun.  NAME "
	       "is a variable or a shell pattern such as 'core_*'.  "
	       "vmpistat(1) describes the forms.",
	.operand = operand_take,
};

/* Nothing fits a name: that is a mistake, of which there may be several. */
static int names_check(const struct choice *choice,
		       const struct vm_live_job *job)
{
	const struct vm_live_file *file = job->files[0];
	struct vm_live_pvar_view view;
	int status = 0;

	for (unsigned n = 0; n < choice->name_count; n++) {
		char text[VM_CLI_MISTAKE_MAX], lists[VM_EXPORT_JOB_MAX + 32];
		struct vm_nearest nearest;

		if (choice->used[n])
			continue;
		vm_nearest_init(&nearest, choice->names[n]);
		for (unsigned i = 0; i < vm_live_pvar_count(file); i++) {
			vm_live_pvar_info(file, &view, i);
			vm_nearest_offer(&nearest, view.name);
		}
		snprintf(lists, sizeof(lists), "vmpistat %s lists them",
			 job->name);
		vm_cli_say("no variable of job %s is called '%.60s'; %s",
			   job->name, choice->names[n],
			   vm_cli_meant(text, &nearest, lists));
		status = VM_EXIT_MISTAKE;
	}
	return status;
}

static int rank_check(const struct choice *choice,
		      const struct vm_live_job *job)
{
	unsigned ranks = vm_live_job_head(job)->ranks;

	if (choice->ranks && choice->rank >= (long)ranks) {
		vm_cli_say("--rank %ld: job %s has ranks 0 to %u", choice->rank,
			   job->name, ranks - 1);
		return VM_EXIT_MISTAKE;
	}
	if (choice->ranks && choice->rank >= 0 &&
	    !vm_live_job_rank(job, (unsigned)choice->rank)) {
		vm_cli_say("--rank %ld: this rank is on another host",
			   choice->rank);
		return VM_EXIT_MISTAKE;
	}
	return 0;
}

/* Also notes which control variables fit: not all forms ask for them. */
static void cvars_fit(struct choice *choice, const struct vm_live_job *job)
{
	struct vm_live_cvar_view view;

	for (unsigned i = 0; i < vm_live_cvar_count(job->files[0]); i++) {
		vm_live_cvar_info(job->files[0], &view, i);
		choice_fits(choice, view.name);
	}
}

static void sample_print(const struct options *options,
			 const struct sample *sample, struct choice *choice)
{
	if (options->form == FORM_JSON)
		sample_json(sample, choice);
	else if (options->form == FORM_PROMETHEUS)
		sample_prometheus(sample, choice);
	else
		sample_text(sample, choice);
}

/* One sample, or as many as were asked for while the job lives. */
static void samples_print(const struct options *options, struct sample *sample,
			  struct choice *choice)
{
	struct timespec next, period = {
		.tv_sec = (time_t)choice->every_s,
		.tv_nsec = (long)((choice->every_s -
				   (double)(time_t)choice->every_s) *
				  1e9),
	};
	int left = choice->every_s > 0 ? choice->count : 1;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		sample_take(sample);
		sample_print(options, sample, choice);
		if (left == 1 || !sample->lives)
			return;
		if (sample->looked && (fflush(stdout) || ferror(stdout)))
			return;
		left -= left > 0;
		next.tv_sec += period.tv_sec;
		next.tv_nsec += period.tv_nsec;
		if (next.tv_nsec >= 1000000000) {
			next.tv_sec++;
			next.tv_nsec -= 1000000000;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}

static int job_show(struct options *options, const struct vm_live_job *job)
{
	struct choice *choice = &options->choice;
	struct sample sample;
	int status = rank_check(choice, job);

	if (status)
		return status;
	if (options->set)
		return job_set(job, options->set,
			       choice->ranks ? choice->rank : -1);
	if (options->stacks)
		return stacks_text(job, choice->ranks ? choice->rank : -1) ?
			       EXIT_FAILURE :
			       0;
	if (options->states)
		return (options->form == FORM_JSON ?
				states_json(job) :
				states_text(job, choice->all)) ?
			       EXIT_FAILURE :
			       0;
	if (sample_init(&sample, job, choice)) {
		vm_cli_no_memory();
		return EXIT_FAILURE;
	}
	cvars_fit(choice, job);
	status = names_check(choice, job);
	if (!status)
		samples_print(options, &sample, choice);
	sample_fini(&sample);
	return status;
}

static int jobs_show(struct options *options, const struct vm_live_jobs *jobs)
{
	int status = 0;

	if (!options->job && options->form == FORM_PROMETHEUS) {
		/* A metric's values stand together: of one job only. */
		if (jobs->count > 1) {
			vm_cli_say(
				"--prometheus: there are %u jobs; name one of them",
				jobs->count);
			return VM_EXIT_MISTAKE;
		}
		return jobs->count ? job_show(options, &jobs->list[0]) : 0;
	}
	if (!options->job && (options->states || options->stacks)) {
		for (unsigned i = 0; i < jobs->count && !status; i++)
			status = job_show(options, &jobs->list[i]);
		return status;
	}
	if (options->job)
		return job_show(options, &jobs->list[0]);
	if (options->form == FORM_JSON)
		list_json(jobs);
	else
		list_text(jobs);
	return 0;
}

static void refused_say(const char *path, const char *why)
{
	vm_cli_say("%s cannot be read: %s", path, why);
}

static int options_answer(struct options *options)
{
	struct vm_live_jobs jobs;
	int status;

	if (options->clean) {
		unsigned gone = vm_export_clean(VM_EXPORT_DIR, NULL, 0);

		printf("%u file%s of dead processes removed\n", gone,
		       gone == 1 ? "" : "s");
		return 0;
	}
	if (!options->job && options->set) {
		vm_cli_say("--set: the job is missing: vmpistat JOB --set "
			   "NAME=VALUE");
		return VM_EXIT_MISTAKE;
	}
	if (vm_live_jobs_find(&jobs, VM_EXPORT_DIR, options->job,
			      options->job ? refused_say : NULL)) {
		vm_cli_no_memory();
		return EXIT_FAILURE;
	}
	if (!options->job && jobs.unreadable)
		vm_cli_say(
			"%u file%s of vmpi in %s cannot be read; vmpistat JOB "
			"says why",
			jobs.unreadable, jobs.unreadable == 1 ? "" : "s",
			VM_EXPORT_DIR);
	status = jobs.unreadable ? EXIT_FAILURE : 0;
	if (options->job && jobs.count == 0 && !status) {
		vm_cli_say("there is no job %.60s of this user on this host; "
			   "vmpistat lists them",
			   options->job);
		status = VM_EXIT_MISTAKE;
	}
	if (!options->job || jobs.count)
		status |= jobs_show(options, &jobs);
	vm_live_jobs_free(&jobs);
	return status;
}

/* A file that is truncated while it is read: the only thing that reading cannot
 * be protected from. */
static void bus_error(int signal)
{
	static const char text[] =
		"vmpistat: a file was shortened while it was read\n";

	(void)signal;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	struct options options = { .form = FORM_TEXT };
	int status = VM_EXIT_MISTAKE;

	vm_standard_open();
	signal(SIGBUS, bus_error);
	options.choice.names = calloc((size_t)argc + 1, sizeof(char *));
	options.choice.used = calloc((size_t)argc + 1, sizeof(bool));
	if (!options.choice.names || !options.choice.used) {
		vm_cli_no_memory();
		return EXIT_FAILURE;
	}
	if (!vm_cli_parse(&command_line, &options, argc, argv))
		status = options_answer(&options);
	free(options.choice.names);
	free(options.choice.used);
	return vm_cli_end(status);
}
