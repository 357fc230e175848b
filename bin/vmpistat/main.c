/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpistat: what the jobs of this user do, seen from outside.
 *
 * It reads the files in which processes keep their counters
 * (report/live/file.h) and asks them for nothing, so that they notice
 * nothing, and need not even live.
 */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "report/cli.h"
#include "base/nearest.h"
#include "report/live/job.h"
#include "print.h"
#include "sample.h"
#include "say.h"
#include "set.h"
#include "states.h"
#include "vmpi.h"

#define EXIT_MISTAKE 2 /* on the command line: also a job that is not there */

enum key {
	KEY_RANK = 0x100,
	KEY_WORKER,
	KEY_JSON,
	KEY_PROMETHEUS,
	KEY_STATES,
	KEY_CLEAN,
	KEY_SET,
	KEY_COUNT
};

static const struct argp_option options[] = {
	{ "rank", KEY_RANK, "RANK|all", 0,
	  "The values of this rank, or of each", 0 },
	{ "worker", KEY_WORKER, "WORKER|all", 0,
	  "The values of this worker of each process, or of each", 0 },
	{ "states", KEY_STATES, 0, 0,
	  "What each rank does and whom it waits for, and deadlocks", 0 },
	{ "every", 'e', "SECONDS", 0,
	  "Again and again, with rates, until the job has ended", 1 },
	{ "count", KEY_COUNT, "N", 0, "With --every: so many times", 1 },
	{ "json", KEY_JSON, 0, 0, "One line of JSON per sample", 2 },
	{ "prometheus", KEY_PROMETHEUS, 0, 0,
	  "Prometheus's text format, of the job or of all", 2 },
	{ "set", KEY_SET, "NAME=VALUE", 0,
	  "Set a control variable, with --rank of one rank, of a job started "
	  "with vmpirun --control",
	  3 },
	{ "clean", KEY_CLEAN, 0, 0, "Remove what killed jobs have left behind",
	  3 },
	{ "help", 'h', 0, 0, "Print this text", 4 },
	{ "version", 'V', 0, 0, "Print the version", 4 },
	{ 0 },
};

enum form { FORM_TEXT, FORM_JSON, FORM_PROMETHEUS };

/* What was asked for. */
struct request {
	enum form form;
	bool states, clean, help, version;
	const char *job;
	const char *set; /* NAME=VALUE */
	struct choice choice;
	int seen;  /* words before this one are understood */
	bool told; /* what is wrong has been said */
};

static error_t refuse(struct request *request, const char *option,
		      const char *text, const char *wanted)
{
	complain("%s %.60s: %s", option, text, wanted);
	request->told = true;
	return EINVAL;
}

/* "all" or a number, which goes to *one; all: -1. */
static error_t one_take(struct request *request, long *one, const char *option,
			const char *text)
{
	char *end;

	*one = -1;
	if (strcmp(text, "all") == 0)
		return 0;
	errno = 0;
	*one = strtol(text, &end, 10);
	if (errno || *end || end == text || *one < 0 || *one > 999999 ||
	    text[0] == '+' || text[0] == ' ')
		return refuse(request, option, text,
			      "a number from 0 to 999999, or all, is needed");
	return 0;
}

static error_t every_take(struct request *request, const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (*end || end == text || !isfinite(seconds) || seconds < 0.0001 ||
	    seconds > 86400)
		return refuse(request, "--every", text,
			      "seconds from 0.0001 to 86400 are needed");
	request->choice.every_s = seconds;
	return 0;
}

static error_t count_take(struct request *request, const char *text)
{
	char *end;

	errno = 0;
	request->choice.count = strtoul(text, &end, 10);
	if (errno || *end || strspn(text, "0123456789") == 0 ||
	    request->choice.count == 0)
		return refuse(request, "--count", text,
			      "a number from 1 is needed");
	return 0;
}

static void operand_take(struct request *request, char *text)
{
	if (!request->job)
		request->job = text;
	else
		request->choice.names[request->choice.name_count++] = text;
}

static error_t option_parse(int key, char *text, struct argp_state *state)
{
	struct request *request = state->input;
	struct choice *choice = &request->choice;
	error_t rc = 0;

	switch (key) {
	case KEY_RANK:
		choice->ranks = true;
		rc = one_take(request, &choice->rank, "--rank", text);
		break;
	case KEY_WORKER:
		choice->workers = true;
		rc = one_take(request, &choice->worker, "--worker", text);
		break;
	case KEY_STATES:
		request->states = true;
		break;
	case 'e':
		rc = every_take(request, text);
		break;
	case KEY_COUNT:
		rc = count_take(request, text);
		break;
	case KEY_JSON:
		request->form = FORM_JSON;
		break;
	case KEY_PROMETHEUS:
		request->form = FORM_PROMETHEUS;
		break;
	case KEY_CLEAN:
		request->clean = true;
		break;
	case KEY_SET:
		request->set = text;
		break;
	case 'h':
		request->help = true;
		break;
	case 'V':
		request->version = true;
		break;
	case ARGP_KEY_ARG:
		operand_take(request, text);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (rc == 0)
		request->seen = state->next;
	return rc;
}

static const struct argp command_line = {
	.options = options,
	.parser = option_parse,
	.args_doc = "[JOB [NAME...]]",
	.doc = "Show what the jobs of this user on this host do, or have done "
	       "before they were killed."
	       "\vWithout JOB: a line per job.  JOB is its number there, that "
	       "of its vmpirun.  NAME is a variable or a shell pattern such as "
	       "'core_*'.  vmpistat(1) describes the forms.",
};

/* argp could not take this word. */
static int mistake_say(const char *word)
{
	char text[VM_CLI_MISTAKE_MAX];

	vm_cli_mistake(text, "vmpistat", word, options);
	complain("%s", text);
	return EXIT_MISTAKE;
}

/* Nothing fits a name: that is a mistake, of which there may be several. */
static int names_check(const struct choice *choice,
		       const struct vm_live_job *job)
{
	const struct vm_live_file *file = job->files[0];
	struct vm_live_pvar_view view;
	int status = 0;

	for (unsigned n = 0; n < choice->name_count; n++) {
		struct vm_nearest nearest;
		const char *meant;

		if (choice->used[n])
			continue;
		vm_nearest_init(&nearest, choice->names[n]);
		for (unsigned i = 0; i < vm_live_pvar_count(file); i++) {
			vm_live_pvar_info(file, &view, i);
			vm_nearest_offer(&nearest, view.name);
		}
		meant = vm_nearest_name(&nearest);
		if (meant)
			complain("no variable of job %s is called '%.60s'; did "
				 "you mean %s?",
				 job->name, choice->names[n], meant);
		else
			complain("no variable of job %s is called '%.60s'; "
				 "vmpistat %s lists them",
				 job->name, choice->names[n], job->name);
		status = EXIT_MISTAKE;
	}
	return status;
}

static int rank_check(const struct choice *choice,
		      const struct vm_live_job *job)
{
	unsigned ranks = vm_live_job_head(job)->ranks;

	if (choice->ranks && choice->rank >= (long)ranks) {
		complain("--rank %ld: job %s has ranks 0 to %u", choice->rank,
			 job->name, ranks - 1);
		return EXIT_MISTAKE;
	}
	if (choice->ranks && choice->rank >= 0 &&
	    !vm_live_job_rank(job, (unsigned)choice->rank)) {
		complain("--rank %ld: it is on another host", choice->rank);
		return EXIT_MISTAKE;
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

static void sample_print(const struct request *request,
			 const struct sample *sample, struct choice *choice)
{
	if (request->form == FORM_JSON)
		sample_json(sample, choice);
	else if (request->form == FORM_PROMETHEUS)
		sample_prometheus(sample, choice);
	else
		sample_text(sample, choice);
}

/* One sample, or as many as were asked for while the job lives. */
static void samples_print(const struct request *request, struct sample *sample,
			  struct choice *choice)
{
	struct timespec next, period = {
		.tv_sec = (time_t)choice->every_s,
		.tv_nsec = (long)((choice->every_s -
				   (double)(time_t)choice->every_s) *
				  1e9),
	};
	unsigned long left = choice->every_s > 0 ? choice->count : 1;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		sample_take(sample);
		sample_print(request, sample, choice);
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

static int job_show(struct request *request, const struct vm_live_job *job)
{
	struct choice *choice = &request->choice;
	struct sample sample;
	int status = rank_check(choice, job);

	if (status)
		return status;
	if (request->set)
		return job_set(job, request->set,
			       choice->ranks ? choice->rank : -1);
	if (request->states)
		return (request->form == FORM_JSON ? states_json(job) :
						     states_text(job)) ?
			       EXIT_FAILURE :
			       0;
	if (sample_init(&sample, job, choice)) {
		complain("out of memory");
		return EXIT_FAILURE;
	}
	cvars_fit(choice, job);
	status = names_check(choice, job);
	if (!status)
		samples_print(request, &sample, choice);
	sample_fini(&sample);
	return status;
}

static int jobs_show(struct request *request, const struct vm_live_jobs *jobs)
{
	int status = 0;

	if (!request->job && request->form == FORM_PROMETHEUS) {
		/* A metric's values stand together: of one job only. */
		if (jobs->count > 1) {
			complain("--prometheus: there are %u jobs; say which",
				 jobs->count);
			return EXIT_MISTAKE;
		}
		return jobs->count ? job_show(request, &jobs->list[0]) : 0;
	}
	if (!request->job && request->states) {
		for (unsigned i = 0; i < jobs->count && !status; i++)
			status = job_show(request, &jobs->list[i]);
		return status;
	}
	if (request->job)
		return job_show(request, &jobs->list[0]);
	if (request->form == FORM_JSON)
		list_json(jobs);
	else
		list_text(jobs);
	return 0;
}

static void refused_say(const char *path, const char *why)
{
	complain("%s cannot be read: %s", path, why);
}

static int request_answer(struct request *request)
{
	static char program[] = "vmpistat";
	struct vm_live_jobs jobs;
	int status;

	if (request->help) {
		argp_help(&command_line, stdout,
			  ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, program);
		return 0;
	}
	if (request->version) {
		printf("vmpistat (vmpi) %s\n", vmpi_version());
		return 0;
	}
	if (request->clean) {
		unsigned gone = vm_export_clean(VM_EXPORT_DIR, 0);

		printf("%u file%s of dead processes removed\n", gone,
		       gone == 1 ? "" : "s");
		return 0;
	}
	if (!request->job && request->set) {
		complain("--set: the job is missing: vmpistat JOB --set "
			 "NAME=VALUE");
		return EXIT_MISTAKE;
	}
	if (vm_live_jobs_find(&jobs, VM_EXPORT_DIR, request->job,
			      request->job ? refused_say : NULL)) {
		complain("out of memory");
		return EXIT_FAILURE;
	}
	if (!request->job && jobs.unreadable)
		complain("%u file%s of vmpi in %s cannot be read; vmpistat JOB "
			 "says why",
			 jobs.unreadable, jobs.unreadable == 1 ? "" : "s",
			 VM_EXPORT_DIR);
	status = jobs.unreadable ? EXIT_FAILURE : 0;
	if (request->job && jobs.count == 0 && !status) {
		complain("there is no job %.60s of this user on this host; "
			 "vmpistat lists them",
			 request->job);
		status = EXIT_MISTAKE;
	}
	if (!request->job || jobs.count)
		status |= jobs_show(request, &jobs);
	vm_live_jobs_free(&jobs);
	return status;
}

/* A file that somebody shortens while it is read: the only thing that reading
 * cannot be protected from. */
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
	const unsigned flags = ARGP_NO_HELP | ARGP_NO_ERRS;
	struct request request = { .seen = 1 };
	int status;

	signal(SIGBUS, bus_error);
	request.choice.names = calloc((size_t)argc + 1, sizeof(char *));
	request.choice.used = calloc((size_t)argc + 1, sizeof(bool));
	if (!request.choice.names || !request.choice.used) {
		complain("out of memory");
		return EXIT_FAILURE;
	}
	if (argp_parse(&command_line, argc, argv, flags, NULL, &request) != 0)
		status = request.told ? EXIT_MISTAKE :
					mistake_say(argv[request.seen]);
	else
		status = request_answer(&request);
	free(request.choice.names);
	free(request.choice.used);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		perror("vmpistat: standard output");
		return EXIT_FAILURE;
	}
	return status;
}
