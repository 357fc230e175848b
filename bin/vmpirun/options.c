/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What only the whole command line shows: that there is a program.
 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat.h"
#include "foreign.h"
#include "report/cli.h"
#include "options_table.h"
#include "vmpi.h"

const char vm_cli_program[] = "vmpirun";

static const char program_doc[] =
	"Run PROGRAM as N ranks: user-level threads in one "
	"process per node or, if it cannot be loaded once per "
	"rank, one process per rank.\vLong options may also begin with one "
	"dash: -np 4, -wdir DIR.  Of several programs, -n, -x, --env, "
	"--envlist and --wdir before one are that one's, all others the "
	"job's and before the first.  vmpirun(1) describes signals "
	"and exit codes.";

static int program_take(struct options *options, char **words)
{
	options->program = words;
	return 0;
}

/* Several programs have numbers of ranks and processes of their own. */
static int parts_check(struct options *options)
{
	const struct {
		bool given;
		const char *option;
	} others[] = {
		{ options->hosts.count > 0, "--hosts" },
		{ options->nodes > 0, "--nodes" },
		{ options->ppn > 0, "--ppn" },
		{ options->map.path || options->map.cyclic, "--map" },
		{ options->gdb, "--gdb" },
		{ options->launcher && strcmp(options->launcher, "auto") &&
			  strcmp(options->launcher, "fork"),
		  "--launcher" },
	};

	if (options->parts.count == 1)
		return 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!others[i].given)
			continue;
		vm_cli_say("%s: of several programs each has processes of its "
			   "own on this host",
			   others[i].option);
		return -VMPI_EINVAL;
	}
	for (int i = 0; i < options->parts.count; i++)
		if (!options->parts.list[i].ranks)
			options->parts.list[i].ranks = 1;
	return 0;
}

/* -x and -wdir before the first of several programs are that one's. */
static int surroundings_divide(struct options *options)
{
	struct part *first = &options->parts.list[0];

	if (options->parts.count > 1 && !options->configfile) {
		first->exports = options->own;
		first->wdir = options->wdir;
		options->own = (struct command){ 0 };
		options->wdir = NULL;
		return 0;
	}
	command_move(&options->exports, &options->own);
	if (options->parts.count == 1) {
		command_move(&options->exports, &first->exports);
		if (first->wdir) {
			free(options->wdir);
			options->wdir = first->wdir;
			first->wdir = NULL;
		}
	}
	return options->exports.failed ? -VMPI_ENOMEM : 0;
}

static int parts_take(struct options *options)
{
	struct parts *parts = &options->parts;
	int rc;

	if (options->program && options->configfile) {
		vm_cli_say(
			"--configfile %s names the programs; '%s' is one more",
			options->configfile, options->program[0]);
		return -VMPI_EINVAL;
	}
	if (options->configfile && options->job.ranks) {
		vm_cli_say("-n is for the lines of the file of --configfile");
		return -VMPI_EINVAL;
	}
	if (!options->program && !options->configfile) {
		vm_cli_say("no program given%s; usage: vmpirun [OPTION...] "
			   "PROGRAM [ARG...]",
			   options->taken);
		return -VMPI_EINVAL;
	}
	rc = options->configfile ?
		     parts_read(parts, options->configfile) :
		     parts_split(parts, options->program, options->job.ranks);
	if (!rc)
		rc = parts_check(options);
	if (!rc)
		rc = surroundings_divide(options);
	if (!rc) {
		options->program = parts->list[0].words;
		options->job.ranks = parts_ranks(parts);
	}
	return rc;
}

/* Fills in options that were not given, and checks those that were. */
static int options_finish(struct options *options)
{
	const char *limit = getenv("MPIEXEC_TIMEOUT");

	compat_say(options);
	if (parts_take(options))
		return -VMPI_EINVAL;
	if (!options->timeout_ns && limit && limit[0])
		return options_seconds_take(options, "MPIEXEC_TIMEOUT=", limit);
	return 0;
}

/* What is meant to be the program may be the value of an option that lacks its
 * own. */
static void taken_describe(struct options *options, int argc, char **argv)
{
	int at = argc - 1;

	while (at > 1 && argv[at][0] != '-')
		at--;
	if (at > 0 && at < argc - 1 && argv[at][0] == '-')
		snprintf(options->taken, sizeof(options->taken),
			 ": %.60s has taken '%.200s'", argv[at],
			 argv[argc - 1]);
}

int options_parse(struct options *options, int argc, char **argv)
{
	const struct vm_cli cli = { .rows = option_rows,
				    .count = option_row_count,
				    .words = option_words,
				    .foreign = foreign_rows,
				    .foreign_count = foreign_count,
				    .foreign_take = foreign_take,
				    .operands = "PROGRAM [ARG...] "
						"[: [OPTION...] PROGRAM "
						"[ARG...]]...",
				    .doc = program_doc,
				    .one_dash = true,
				    .command = true,
				    .operand = program_take };
	int rc;

	*options = (struct options){ 0 };
	vm_job_init(&options->job);
	options->job.ranks = 0;
	/* What MPI_Comm_spawn says to the processes that it starts. */
	if (getenv(VM_JOB_PREFIX "PARENT") &&
	    vm_job_text(&options->job.parent, getenv(VM_JOB_PREFIX "PARENT")))
		return -VMPI_ENOMEM;
	taken_describe(options, argc, argv);
	rc = vm_cli_parse(&cli, options, argc, argv);
	return rc ? rc : options_finish(options);
}

void options_fini(struct options *options)
{
	vm_job_fini(&options->job);
	hosts_fini(&options->hosts);
	map_fini(&options->map);
	parts_fini(&options->parts);
	command_fini(&options->exports);
	command_fini(&options->own);
	free(options->wdir);
	free(options->ignored);
	free(options->rsh_agent);
	free(options->overlap);
	/* Gone already, unless the job has not started. */
	if (options->profile_dir)
		rmdir(options->profile_dir);
	free(options->profile_dir);
	free(options->trace);
	free(options->plugins);
}
