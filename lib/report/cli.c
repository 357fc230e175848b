/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A word that begins several options is no use to argp, but tells what was
 * meant; only then the nearest name is looked for.
 */
#include "report/cli.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

#define WORD 60 /* bytes of what was typed that are repeated */

static bool is_end(const struct argp_option *row)
{
	return !row->name && !row->key && !row->doc && !row->group;
}

static bool is_meant(const struct argp_option *row)
{
	return row->name && !(row->flags & OPTION_HIDDEN);
}

/* The option of this name or letter; of an alias the one it stands for. */
static const struct argp_option *row_find(const struct argp_option *options,
					  const char *name)
{
	for (const struct argp_option *row = options; !is_end(row); row++) {
		if (!row->name ||
		    (strcmp(row->name, name) != 0 &&
		     (name[0] != row->key || name[1] || !name[0])))
			continue;
		while (row->flags & OPTION_ALIAS && row > options)
			row--;
		return row;
	}
	return NULL;
}

/* Whether name is the beginning of several options; they are put into list. */
static bool rows_begin(char *list, size_t bytes, const char *name,
		       const struct argp_option *options)
{
	unsigned found = 0;
	size_t length = 0;

	for (const struct argp_option *row = options;
	     name[0] && !is_end(row) && length < bytes; row++)
		if (is_meant(row) && !strncmp(row->name, name, strlen(name)))
			length += (size_t)snprintf(list + length,
						   bytes - length, "%s--%s",
						   found++ ? ", " : "",
						   row->name);
	return found > 1;
}

/* No option has this name. */
static void unknown_text(char text[VM_CLI_MISTAKE_MAX], const char *program,
			 const char *word, const char *name,
			 const struct argp_option *options)
{
	struct vm_nearest nearest;
	const char *meant;

	vm_nearest_init(&nearest, name);
	for (const struct argp_option *row = options; !is_end(row); row++)
		if (is_meant(row))
			vm_nearest_offer(&nearest, row->name);
	meant = vm_nearest_name(&nearest);
	if (meant)
		snprintf(text, VM_CLI_MISTAKE_MAX,
			 "%.*s: no such option; did you mean --%s?", WORD, word,
			 meant);
	else
		snprintf(text, VM_CLI_MISTAKE_MAX,
			 "%.*s: no such option; %s --help lists them", WORD,
			 word, program);
}

void vm_cli_mistake(char text[VM_CLI_MISTAKE_MAX], const char *program,
		    const char *word, const struct argp_option *options)
{
	char name[64], list[256];
	const char *bare = word + strspn(word, "-");
	size_t length = strcspn(bare, "=");
	const struct argp_option *row;

	snprintf(name, sizeof(name), "%.*s",
		 (int)(length < sizeof(name) ? length : sizeof(name) - 1),
		 bare);
	row = row_find(options, name);
	if (row && row->arg && !bare[length])
		snprintf(text, VM_CLI_MISTAKE_MAX,
			 "%.*s: a value is needed: %.*s %s", WORD, word, WORD,
			 word, row->arg);
	else if (row && !row->arg && bare[length])
		snprintf(text, VM_CLI_MISTAKE_MAX,
			 "%.*s: this option takes no value", WORD, word);
	else if (rows_begin(list, sizeof(list), name, options))
		snprintf(text, VM_CLI_MISTAKE_MAX,
			 "%.*s: which option is meant: %s?", WORD, word, list);
	else
		unknown_text(text, program, word, name, options);
}
