/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that is decided and can go wrong before anything starts, also by
 * --dry-run.
 */
#include "launch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "core/libc/probe.h"
#include "exports.h"
#include "overlap.h"
#include "profile.h"
#include "program.h"
#include "report/cli.h"
#include "report/option.h"
#include "trace.h"
#include "vmpi.h"

/* Whether the agent is a command; only its words are checked. */
static int agent_check(const char *agent)
{
	struct command words = { 0 };
	int rc = agent ? command_add_text(&words, "--agent", agent, "", 0) : 0;

	command_fini(&words);
	return rc;
}

/* Whether files can be opened from /proc/PID/fd, as copies of programs are: it may
 * be absent, or that of another name space of processes. */
static bool copies_open(void)
{
	char self[32] = "";

	return readlink("/proc/self", self, sizeof(self) - 1) > 0 &&
	       strtol(self, NULL, 10) == (long)getpid();
}

/* Whether the C library can load a program many times: NULL, or why not. */
static const char *libc_why(struct launch *launch, const char *node, char *text,
			    size_t bytes)
{
	struct options *options = launch->options;

	if (!copies_open()) {
		snprintf(text, bytes,
			 "/proc is not mounted, or is that of other processes");
		vm_cli_say("each rank of %s is a process, because %s; from it "
			   "a program is loaded once per rank",
			   options->program[0], text);
		return text;
	}
	if (vm_probe_ask(node, text, bytes)) {
		vm_job_text(&options->job.libc, vm_probe_version());
		return NULL;
	}
	vm_cli_say("each rank of %s is a process, because the C library cannot "
		   "load a program once per rank (%s)",
		   options->program[0], text);
	return text;
}

/* Of several programs one that has to be a process per rank decides for all. */
static int kind_find(enum program_kind *kind, struct options *options)
{
	int rc = 0;

	*kind = PROGRAM_IMAGE;
	for (int i = 0;
	     i < options->parts.count && !rc && *kind != PROGRAM_PROCESS; i++) {
		const struct part *part = &options->parts.list[i];
		enum program_kind one;

		rc = program_kind(&one, options->why, sizeof(options->why),
				  part->path, part->words[0]);
		if (!rc && one != PROGRAM_IMAGE)
			*kind = one;
	}
	return rc;
}

/* Decides whether each rank is a process.  A node program that was asked for by
 * name gets whatever program there is. */
static int kind_choose(struct launch *launch, const char *node)
{
	struct options *options = launch->options;
	enum program_kind kind = PROGRAM_IMAGE;
	const char *why = NULL;
	char text[200];
	int rc = 0;

	if (!getenv("VMPI_NODE"))
		rc = kind_find(&kind, options);
	if (kind == PROGRAM_ORDINARY && options->agent)
		why = "--agent is given, and vmpicc has not linked it";
	if (kind != PROGRAM_PROCESS && options->processes)
		why = "--processes is given";
	if (!rc && !why && kind != PROGRAM_PROCESS && !getenv("VMPI_NODE"))
		why = libc_why(launch, node, text, sizeof(text));
	if (why)
		snprintf(options->why, sizeof(options->why), "%s", why);
	options->job.processes = kind == PROGRAM_PROCESS || why;
	return rc;
}

/*
 * Lets processes find libmpi_abi.so.1, as other launchers let programs find
 * their libraries: in a directory beside the node program that has nothing
 * else, so that no other library is found there by mistake; behind the user's
 * own.
 */
static int libraries_offer(const char *node)
{
	const char *own = getenv(LIBRARY_PATH);
	const char *slash = strrchr(node, '/');
	char *path;
	int rc;

	if (asprintf(&path, "%s%s%.*s/abi", own ? own : "",
		     own && own[0] ? ":" : "", slash ? (int)(slash - node) : 1,
		     slash ? node : ".") < 0)
		return -VMPI_ENOMEM;
	rc = setenv(LIBRARY_PATH, path, 1) ? -VMPI_ENOMEM : 0;
	free(path);
	return rc;
}

/* What -v and --report-bindings say about the decision. */
static int kind_print(struct launch *launch)
{
	struct options *options = launch->options;
	const struct vm_image_choice choice = {
		.private = options->job.private,
		.shared = options->job.shared,
	};
	int rc = 0;

	if (options->dry_run)
		return 0;
	for (int i = 0; i < options->parts.count && options->verbose &&
			!options->job.processes && !rc;
	     i++)
		rc = program_libs_print(options->parts.list[i].path,
					options->parts.list[i].words[0],
					&choice);
	if (!options->job.processes)
		return rc;
	if (options->verbose || options->job.report_bindings)
		vm_cli_say("%s: each rank is a process: %s",
			   options->program[0], options->why);
	options->job.report_bindings = false;
	return 0;
}

/* Refuses options that the node program carries out and that processes without
 * it cannot have. */
static int processes_check(const struct launch *launch)
{
	const struct options *options = launch->options;
	const struct vm_job *job = &options->job;
	const struct {
		bool given;
		const char *option;
	} mute[] = {
		{ job->summary, "--summary" },
		{ job->advise, "--advise" },
		{ job->private != NULL, "--private" },
		{ job->shared != NULL, "--shared" },
		{ job->display_map, "--display-map" },
		{ options->map.path != NULL, "--map" },
		{ options->balanced || job->learn, "--balance" },
	};

	for (size_t i = 0; i < sizeof(mute) / sizeof(mute[0]); i++) {
		if (!mute[i].given)
			continue;
		vm_cli_say(
			"%s is about the ranks of a process, but each rank of %s "
			"is a process: %s",
			mute[i].option, options->program[0], options->why);
		return -VMPI_EINVAL;
	}
	if (job->output_dir && launch->plan.engine) {
		vm_cli_say(
			"--output: each rank of %s is a process (%s), so %s writes "
			"the output; use the options of that launcher",
			options->program[0], options->why,
			engine_name(launch->plan.engine));
		return -VMPI_EINVAL;
	}
	return 0;
}

/* vmpirun becomes the debugger, so that the terminal is all its own: nothing
 * can be done afterwards. */
static int gdb_check(const struct launch *launch)
{
	const struct options *options = launch->options;
	const struct {
		bool given;
		const char *option;
	} others[] = {
		{ options->timeout_text, "--timeout (or MPIEXEC_TIMEOUT)" },
		{ options->agent, "--agent" },
		{ options->trace, "--trace" },
		{ options->overlap, "--overlap" },
		{ options->profile || options->profile_json, "--profile" },
	};

	if (!options->gdb)
		return 0;
	if (launch->plan.nodes > 1 || launch->plan.engine) {
		vm_cli_say("--gdb: all ranks must be in one process on this "
			   "host; start the job without it and use gdb -p PID");
		return -VMPI_EINVAL;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!others[i].given)
			continue;
		vm_cli_say("--gdb and %s exclude each other", others[i].option);
		return -VMPI_EINVAL;
	}
	return 0;
}

/* Keeps the output options here: the processes must not get them, as one may be
 * a script that runs a program linked by vmpicc. */
static void output_take(struct launch *launch)
{
	struct vm_job *job = &launch->options->job;

	launch->label = job->label && !job->output_dir;
	launch->output_dir = job->output_dir;
	job->label = false;
	job->output_dir = NULL;
}

/* The job's name for vmpistat: the number of this process. */
static int id_make(struct vm_job *job)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)getpid());
	return vm_job_text(&job->id, text);
}

/* Finds the program, from its own directory if it has one. */
static int part_find(struct part *part, const char *origin, const char *path)
{
	const char *name = part->words[0];
	char *there = NULL, *found;
	int rc;

	if (!part->wdir)
		return program_find(&part->path, name, origin, path);
	rc = check_enter(part->wdir);
	if (rc)
		return rc;
	if (name[0] != '/' && strchr(name, '/') &&
	    asprintf(&there, "%s/%s", part->wdir, name) < 0)
		return vm_cli_no_memory();
	if (there && !access(there, F_OK))
		name = there;
	rc = program_find(&part->path, name, origin, path);
	free(there);
	if (rc)
		return rc;
	found = part->path;
	part->path = NULL;
	rc = vm_option_path(&part->path, "", found, "a program");
	free(found);
	return rc;
}

int launch_check(struct launch *launch, struct options *options)
{
	char node[PATH_MAX];
	char *origin = getcwd(NULL, 0);
	int rc;

	*launch = (struct launch){ .options = options,
				   .last_word = -1,
				   .outlet = -1,
				   .hang.ends = { -1, -1 } };
	rc = exports_set(&options->exports);
	if (!rc)
		rc = check_settings(options->job.set);
	/* Before the change of directory: VMPI_NODE may be relative. */
	if (!rc)
		rc = vm_job_node_path(node, sizeof(node));
	if (!rc && options->wdir)
		rc = check_wdir(options->wdir);
	for (int i = 0; !rc && i < options->parts.count; i++)
		rc = part_find(&options->parts.list[i], origin ? origin : ".",
			       options->path);
	if (!rc)
		rc = kind_choose(launch, node);
	if (!rc && options->job.processes)
		rc = libraries_offer(node);
	if (!rc)
		rc = agent_check(options->agent);
	if (!rc)
		rc = plan_make(&launch->plan, options);
	if (!rc && options->job.processes)
		rc = processes_check(launch);
	if (!rc)
		rc = gdb_check(launch);
	if (!rc)
		rc = kind_print(launch);
	if (!rc)
		rc = overlap_check(options);
	if (!rc)
		rc = trace_check(options, launch->plan.nodes);
	if (!rc && options->job.output_dir && !options->dry_run)
		rc = check_output(options->job.output_dir);
	if (!rc && !options->dry_run)
		rc = id_make(&options->job);
	if (!rc)
		rc = profile_check(options, launch->plan.engine);
	if (!rc && options->job.processes)
		output_take(launch);
	else if (!rc && !(launch->node = strdup(node))) {
		vm_cli_say("out of memory");
		rc = -VMPI_ENOMEM;
	}
	free(origin);
	return rc;
}
