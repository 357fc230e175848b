/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: the command line of vmpirun, in lines of one word each, and
 * commands of --agent, which are divided as a shell does.
 *
 *	make fuzz TARGET=command SECONDS=60
 *
 * The first byte says which of them the rest is.
 */
#include "command.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "options.h"

#define WORDS_MAX 64

static void agent_try(const char *text)
{
	struct command command = { 0 };

	if (!command_add_text(&command, "--agent", text, "host", 3))
		for (size_t i = 0; i < command.count; i++)
			if (!command.list[i])
				abort();
	command_fini(&command);
}

/* Options that print and exit, were they not given these functions. */
int __wrap_vm_cli_help(struct options *options, const char *value);
int __wrap_vm_cli_version(struct options *options, const char *value);

int __wrap_vm_cli_help(struct options *options, const char *value)
{
	(void)options;
	(void)value;
	return 0;
}

int __wrap_vm_cli_version(struct options *options, const char *value)
{
	(void)options;
	(void)value;
	return 0;
}

static void options_judge(const struct options *options)
{
	if (!options->program || !options->program[0] ||
	    options->job.ranks < 0 || options->nodes < 0 || options->ppn < 0)
		abort();
}

static void words_try(char *text)
{
	char *words[WORDS_MAX + 2] = { "vmpirun" };
	struct options options;
	int count = 1;

	for (char *word; count <= WORDS_MAX && (word = strsep(&text, "\n"));) {
		/* For the build; it exits, too. */
		if (!strncmp(word, "--completion=", 13))
			return;
		words[count++] = word;
	}
	words[count] = NULL;
	optind = 0;
	if (!options_parse(&options, count, words))
		options_judge(&options);
	options_fini(&options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char lines[] = "0-3 0\n4 1\n",
			  hosts[] = "a slots=2\nb:3\n";
	char *text;

	if (!bytes)
		return 0;
	/* What --map and --hostfile may name. */
	fuzz_file("map", lines, sizeof(lines) - 1);
	fuzz_file("hosts", hosts, sizeof(hosts) - 1);
	text = fuzz_text(data + 1, bytes - 1);
	if (data[0] & 1)
		words_try(text);
	else
		agent_try(text);
	free(text);
	return 0;
}
