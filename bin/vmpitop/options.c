/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of the options and the functions that take them.
 */
#include "options.h"

#include <limits.h>
#include <stdio.h>

#include "introspect/export/export.h"
#include "report/cli.h"
#include "report/option.h"

#define SECONDS_MAX 86400

const char vm_cli_program[] = "vmpitop";

static int batch_take(struct options *options, const char *text)
{
	return vm_option_number(&options->batch, "--batch", text,
				"a number of pages", 1, INT_MAX);
}

static int node_take(struct options *options, const char *text)
{
	return vm_option_number(&options->node, "--node", text,
				"the number of a node", 0, INT_MAX);
}

static int delay_take(struct options *options, const char *text)
{
	return vm_option_seconds(&options->delay_s, "--delay", text, 0.1,
				 SECONDS_MAX);
}

static int hang_take(struct options *options, const char *text)
{
	return vm_option_seconds(&options->hang_s, "--hang", text, 0,
				 SECONDS_MAX);
}

static int screen_take(struct options *options, const char *text)
{
	static const char *const titles[] = {
#define SCREEN_TITLE(name, key, title) title,
		VIEW_SCREENS(SCREEN_TITLE)
#undef SCREEN_TITLE
	};
	int screen, rc;

	rc = vm_option_word(&screen, "--screen", text, titles, SCREENS);
	if (!rc)
		options->screen = (enum screen)screen;
	return rc;
}

static int marks_take(struct options *options, const char *text)
{
	const char *names[PLOT_HOWS];
	int how, rc;

	for (how = 0; how < PLOT_HOWS; how++)
		names[how] = plot_how_name((enum plot_how)how);
	rc = vm_option_word(&how, "--marks", text, names, PLOT_HOWS);
	if (rc)
		return rc;
	options->marks = (enum plot_how)how;
	options->marks_given = true;
	return 0;
}

static int plot_take(struct options *options, const char *text)
{
	options->plot = text;
	options->screen = SCREEN_PLOT;
	return 0;
}

static int map_take(struct options *options, const char *text)
{
	(void)text;
	options->map = true;
	options->screen = SCREEN_RANKS;
	return 0;
}

VM_CLI_TEXT(filter, filter)
VM_CLI_TEXT(sort, sort)
VM_CLI_TEXT(directory, directory)
VM_CLI_FLAG(list, list)

static int job_take(struct options *options, char **words)
{
	if (options->job)
		return vm_option_refuse(words[0], NULL,
					"there is a job already; it looks at "
					"one");
	options->job = words[0];
	return 0;
}

static const struct vm_cli_row option_rows[] = {
	{ "batch", 'b', "N", 0,
	  "Print N pages as text, for scripts; $COLUMNS and $LINES "
	  "give their size",
	  0, batch_take },
	{ "delay", 'd', "SECONDS", 0, "Update at this interval (default: 1)", 0,
	  delay_take },
	{ "filter", 0, "TEXT", 0,
	  "Show only variables with TEXT in their name, category or "
	  "kind",
	  0, filter_take },
	{ "hang", 0, "SECONDS", 0,
	  "Report a hang when nothing has moved for this long "
	  "(default: 5)",
	  0, hang_take },
	{ "list", 0, 0, 0, "List your jobs on this host", 0, list_take },
	{ "map", 0, 0, 0,
	  "Start with the map of how busy the ranks are over time", 0,
	  map_take },
	{ "marks", 0, "KIND", 0,
	  "Draw plots with braille, block or ascii characters", 0, marks_take },
	{ "node", 'n', "N", 0, "Start with node N only", 0, node_take },
	{ "plot", 0, "NAME", 0, "Start with a plot of this variable", 0,
	  plot_take },
	{ "screen", 's', "NAME", 0,
	  "Start with overview, workers, ranks, fabric, variables "
	  "or plot",
	  0, screen_take },
	{ "sort", 0, "COLUMN", 0,
	  "Sort by this column; -COLUMN: in reverse order", 0, sort_take },
	{ "directory", 0, "DIR", OPTION_HIDDEN, "Directory of the jobs' files",
	  0, directory_take },
	{ "help", 'h', 0, 0, "Print this text", 1, vm_cli_help },
	{ "version", 'V', 0, 0, "Print the version", 1, vm_cli_version },
};

#define SCREEN_WORD(name, key, title) title " "

static const struct vm_cli_words option_words[] = {
	{ "marks", "braille block ascii" },
	{ "screen", VIEW_SCREENS(SCREEN_WORD) },
	{ 0 },
};

static const struct vm_cli command_line = {
	VM_CLI_ROWS(option_rows),
	.words = option_words,
	.operands = "[JOB]",
	.doc = "Show what a running job does: its workers, ranks, "
	       "packets and variables.\vJOB is a job that vmpitop --list "
	       "shows; the default is your only running job.  Press h "
	       "for the keys; vmpitop(1) describes the screens.",
	.operand = job_take,
};

int options_parse(struct options *options, int argc, char **argv)
{
	*options = (struct options){ .directory = VM_EXPORT_DIR,
				     .delay_s = 1,
				     .hang_s = 5,
				     .node = -1 };
	return vm_cli_parse(&command_line, options, argc, argv);
}
