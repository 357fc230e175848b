/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * argp reads the words and prints the help; its own words about mistakes would
 * be two lines.
 */
#include "options.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cli.h"
#include "introspect/export/export.h"

enum key {
	KEY_BATCH = 'b',
	KEY_DELAY = 'd',
	KEY_SCREEN = 's',
	KEY_NODE = 'n',
	KEY_HELP = 'h',
	KEY_VERSION = 'V',
	KEY_FILTER = 0x100,
	KEY_SORT,
	KEY_PLOT,
	KEY_MARKS,
	KEY_HANG,
	KEY_LIST,
	KEY_DIRECTORY,
};

static const struct argp_option rows[] = {
	{ "batch", KEY_BATCH, "N", 0,
	  "Print N pages as text, for scripts; $COLUMNS and $LINES are their "
	  "size",
	  0 },
	{ "delay", KEY_DELAY, "SECONDS", 0,
	  "Look at the job so often (default: 1)", 0 },
	{ "filter", KEY_FILTER, "TEXT", 0,
	  "Of the variables only those with this in name, category or kind",
	  0 },
	{ "hang", KEY_HANG, "SECONDS", 0,
	  "Say that the job hangs when nothing has moved for so long "
	  "(default: 5)",
	  0 },
	{ "list", KEY_LIST, 0, 0, "List your jobs on this host", 0 },
	{ "marks", KEY_MARKS, "KIND", 0,
	  "Draw plots with braille, block or ascii characters", 0 },
	{ "node", KEY_NODE, "N", 0, "Begin with node N alone", 0 },
	{ "plot", KEY_PLOT, "NAME", 0, "Begin with a plot of this variable",
	  0 },
	{ "screen", KEY_SCREEN, "NAME", 0,
	  "Begin with overview, workers, ranks, fabric, variables or plot", 0 },
	{ "sort", KEY_SORT, "COLUMN", 0,
	  "Sort by this column; -COLUMN: the other way round", 0 },
	{ "directory", KEY_DIRECTORY, "DIR", OPTION_HIDDEN,
	  "Where jobs have their files", 0 },
	{ "help", KEY_HELP, 0, 0, "Print this text", 1 },
	{ "version", KEY_VERSION, 0, 0, "Print the version", 1 },
	{ 0 },
};

struct parse {
	struct options *options;
	int seen;
	bool failed; /* the mistake has been said */
};

/* 0 < *seconds <= most; else it is said what is wrong. */
static error_t seconds_take(double *seconds, const char *option,
			    const char *text, double least)
{
	char *end;

	*seconds = strtod(text, &end);
	if (end != text && !*end &&
	    strspn(text, "0123456789.") == strlen(text) && *seconds >= least &&
	    *seconds <= 86400)
		return 0;
	fprintf(stderr,
		"vmpitop: --%s %.60s: a number of seconds from %g to 86400 is "
		"needed\n",
		option, text, least);
	return EINVAL;
}

static error_t count_take(int *count, const char *option, const char *text,
			  int least)
{
	size_t digits = strspn(text, "0123456789");

	*count = digits && digits < 8 && !text[digits] ?
			 (int)strtol(text, NULL, 10) :
			 -1;
	if (*count >= least)
		return 0;
	fprintf(stderr, "vmpitop: --%s %.60s: a number from %d on is needed\n",
		option, text, least);
	return EINVAL;
}

static error_t screen_take(enum screen *screen, const char *text)
{
	static const char *const titles[] = {
#define SCREEN_TITLE(name, key, title) title,
		VIEW_SCREENS(SCREEN_TITLE)
#undef SCREEN_TITLE
	};

	for (int i = 0; i < SCREENS; i++) {
		if (!text[0] || strncmp(titles[i], text, strlen(text)) != 0)
			continue;
		*screen = (enum screen)i;
		return 0;
	}
	fprintf(stderr,
		"vmpitop: --screen %.60s: one of overview, workers, ranks, "
		"fabric, variables and plot is needed\n",
		text);
	return EINVAL;
}

static error_t marks_take(struct options *options, const char *text)
{
	for (int i = 0; i < PLOT_HOWS; i++) {
		if (strcmp(plot_how_name((enum plot_how)i), text) != 0)
			continue;
		options->marks = (enum plot_how)i;
		options->marks_given = true;
		return 0;
	}
	fprintf(stderr,
		"vmpitop: --marks %.60s: braille, block or ascii is needed\n",
		text);
	return EINVAL;
}

static const struct argp command_line;

static void help_print(void)
{
	static char name[] = "vmpitop";

	argp_help(&command_line, stdout,
		  ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, name);
	exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
}

static void version_print(void)
{
	printf("vmpitop (vmpi) %s\n", VM_VERSION);
	exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
}

static error_t job_take(struct options *options, const char *text)
{
	if (!options->job) {
		options->job = text;
		return 0;
	}
	fprintf(stderr,
		"vmpitop: %.60s: there is a job already; it looks at one\n",
		text);
	return EINVAL;
}

static error_t option_take(struct options *options, int key, char *text)
{
	switch (key) {
	case KEY_BATCH:
		return count_take(&options->batch, "batch", text, 1);
	case KEY_NODE:
		return count_take(&options->node, "node", text, 0);
	case KEY_DELAY:
		return seconds_take(&options->delay_s, "delay", text, 0.1);
	case KEY_HANG:
		return seconds_take(&options->hang_s, "hang", text, 0);
	case KEY_SCREEN:
		return screen_take(&options->screen, text);
	case KEY_MARKS:
		return marks_take(options, text);
	case KEY_FILTER:
		options->filter = text;
		return 0;
	case KEY_SORT:
		options->sort = text;
		return 0;
	case KEY_PLOT:
		options->plot = text;
		options->screen = SCREEN_PLOT;
		return 0;
	case KEY_LIST:
		options->list = true;
		return 0;
	case KEY_DIRECTORY:
		options->directory = text;
		return 0;
	case ARGP_KEY_ARG:
		return job_take(options, text);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t option_parse(int key, char *text, struct argp_state *state)
{
	struct parse *parse = state->input;
	error_t error;

	if (key == KEY_HELP)
		help_print();
	if (key == KEY_VERSION)
		version_print();
	error = option_take(parse->options, key, text);
	parse->failed |= error == EINVAL;
	if (error != ARGP_ERR_UNKNOWN)
		parse->seen = state->next;
	return error;
}

static const struct argp command_line = {
	.options = rows,
	.parser = option_parse,
	.args_doc = "[JOB]",
	.doc = "Watch a running job: its workers, ranks, packets and variables."
	       "\vJOB is what vmpitop --list shows; without one it is the only "
	       "job of yours.  In the program h shows the keys; vmpitop(1) "
	       "describes the screens.",
};

/* argp could not take this word. */
static void mistake_say(const char *word)
{
	char text[VM_CLI_MISTAKE_MAX];

	vm_cli_mistake(text, "vmpitop", word, rows);
	fprintf(stderr, "vmpitop: %s\n", text);
}

int options_parse(struct options *options, int argc, char **argv)
{
	const unsigned flags = ARGP_IN_ORDER | ARGP_NO_HELP | ARGP_NO_ERRS;
	struct parse parse = { .options = options, .seen = 1 };

	*options = (struct options){ .directory = VM_EXPORT_DIR,
				     .delay_s = 1,
				     .hang_s = 5,
				     .node = -1 };
	if (!argp_parse(&command_line, argc, argv, flags, NULL, &parse))
		return 0;
	if (!parse.failed)
		mistake_say(argv[parse.seen < argc ? parse.seen : argc - 1]);
	return EXIT_MISTAKE;
}
