/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * argp reads the words and prints the help; what it says about mistakes is for
 * people who type slowly, so it is kept quiet and mistake_say() finds the words.
 */
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/cli.h"
#include "options_table.h"
#include "say.h"
#include "vmpi.h"

static const char program_doc[] =
	"Run PROGRAM as N ranks, which are user-level threads of one process "
	"per node; or, if it was not linked by vmpicc, processes."
	"\vLong options may also begin with one dash: -np 4, -wdir DIR.  "
	"vmpirun(1) describes signals and exit codes.";

#define KEY_BASE 0x100 /* keys of rows without a letter: not printable */

static int row_key(size_t i)
{
	if (!option_rows[i].name)
		return 0;
	return option_rows[i].letter ? option_rows[i].letter :
				       KEY_BASE + (int)i;
}

/* The row whose function takes the option of row i. */
static const struct option_row *row_real(size_t i)
{
	while (option_rows[i].flags & OPTION_ALIAS)
		i--;
	return &option_rows[i];
}

struct parse {
	struct options *options;
	int seen;    /* words before this one are understood */
	int rc;	     /* of the function that took an option */
	bool failed; /* the mistake has been said */
};

static error_t option_parse(int key, char *text, struct argp_state *state)
{
	struct parse *parse = state->input;

	if (key == ARGP_KEY_ARG) {
		parse->options->program = state->argv + state->next - 1;
		state->next = state->argc;
		parse->seen = state->argc;
		return 0;
	}
	for (size_t i = 0; i < option_row_count; i++) {
		const struct option_row *row = row_real(i);

		if (!option_rows[i].name || row_key(i) != key)
			continue;
		parse->rc = row->take(parse->options, text);
		parse->failed = parse->rc != 0;
		parse->seen = state->next;
		return parse->rc ? EINVAL : 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static struct argp_option argp_options[OPTION_ROWS_MAX + 1];

static const struct argp command_line = {
	.options = argp_options,
	.parser = option_parse,
	.args_doc = "PROGRAM [ARG...]",
	.doc = program_doc,
};

static void argp_options_make(void)
{
	for (size_t i = 0; i < option_row_count; i++)
		argp_options[i] = (struct argp_option){
			.name = option_rows[i].name,
			.key = row_key(i),
			.arg = option_rows[i].value,
			.flags = option_rows[i].flags,
			.doc = option_rows[i].doc,
			.group = option_rows[i].group,
		};
}

int options_help_take(struct options *options, const char *text)
{
	static char name[] = "vmpirun";

	argp_help(&command_line, stdout,
		  ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, name);
	exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* getopt could not take this word. */
static void mistake_say(const char *word)
{
	char text[VM_CLI_MISTAKE_MAX];

	vm_cli_mistake(text, "vmpirun", word, argp_options);
	say("%s", text);
}

/* What the words did not say, and what they did not say rightly. */
static int options_finish(struct options *options)
{
	const char *limit = getenv("MPIEXEC_TIMEOUT");

	if (!options->program) {
		say("no program given; usage: vmpirun [OPTION...] PROGRAM "
		    "[ARG...]");
		return -VMPI_EINVAL;
	}
	for (char **word = options->program; *word; word++) {
		if (strcmp(*word, ":") != 0)
			continue;
		say("a second program after ':' is not supported yet: all ranks "
		    "run one program");
		return -VMPI_EINVAL;
	}
	if (!options->timeout_ns && limit && limit[0])
		return options_seconds_take(options, "MPIEXEC_TIMEOUT=", limit);
	return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
	struct parse parse = { .options = options, .seen = 1 };
	const unsigned flags = ARGP_IN_ORDER | ARGP_LONG_ONLY | ARGP_NO_HELP |
			       ARGP_NO_ERRS;

	*options = (struct options){ 0 };
	vm_job_init(&options->job);
	options->job.ranks = 0;
	options->exports = calloc((size_t)argc + 1, sizeof(char *));
	if (!options->exports) {
		say("out of memory");
		return -VMPI_ENOMEM;
	}
	argp_options_make();
	if (!argp_parse(&command_line, argc, argv, flags, NULL, &parse))
		return options_finish(options);
	if (!parse.failed)
		mistake_say(argv[parse.seen]);
	return parse.rc ? parse.rc : -VMPI_EINVAL;
}

void options_fini(struct options *options)
{
	vm_job_fini(&options->job);
	hosts_fini(&options->hosts);
	map_fini(&options->map);
	free(options->exports);
	free(options->overlap);
	/* Gone already, unless the job has not started. */
	if (options->profile_dir)
		rmdir(options->profile_dir);
	free(options->profile_dir);
	free(options->trace);
	free(options->plugins);
	options->exports = NULL;
}
