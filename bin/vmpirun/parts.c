/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is said of a program by options is the whole job's, but for its number of
 * ranks.
 */
#include "parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/job.h"
#include "report/cli.h"
#include "report/option.h"
#include "vmpi.h"

#define PATH_SHOWN 200

/* Takes -n N, whose words begin at *words, and moves *words behind it. */
static int ranks_take(int *ranks, char ***words)
{
	static const char *const names[] = { "-n", "-np", "--n", "--np" };
	const char *word = **words;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);
		const char *value = NULL;

		if (!strcmp(word, names[i]) && (*words)[1])
			value = *++*words;
		else if (!strncmp(word, names[i], length) &&
			 word[length] == '=')
			value = word + length + 1;
		if (!value)
			continue;
		++*words;
		return vm_option_number(ranks, "-n", value, "a number of ranks",
					1, VM_JOB_RANKS_MAX);
	}
	vm_cli_say(
		"%s: before a program behind the first only -n N can be given; "
		"other options are the whole job's and come first",
		word);
	return -VMPI_EINVAL;
}

static struct part *part_add(struct parts *parts)
{
	struct part *more = realloc(parts->list, ((size_t)parts->count + 1) *
							 sizeof(struct part));

	if (!more) {
		vm_cli_no_memory();
		return NULL;
	}
	parts->list = more;
	more[parts->count] = (struct part){ 0 };
	return &more[parts->count++];
}

/* Adds the program that begins at *words, which is moved to the next ":" or to
 * the end. */
static int program_add(struct parts *parts, char ***words, int ranks)
{
	struct part *part;

	if (!**words || !strcmp(**words, ":")) {
		vm_cli_say("a program is needed on each side of ':'");
		return -VMPI_EINVAL;
	}
	part = part_add(parts);
	if (!part)
		return -VMPI_ENOMEM;
	part->words = *words;
	part->ranks = ranks;
	while (**words && strcmp(**words, ":") != 0)
		++*words;
	return 0;
}

/* Of words that begin with a program's options, if it may have some. */
static int split(struct parts *parts, char **words, int ranks, bool first)
{
	int rc = 0;

	for (;;) {
		while (!rc && first && *words && (*words)[0] == '-')
			rc = ranks_take(&ranks, &words);
		if (!rc)
			rc = program_add(parts, &words, ranks);
		if (rc || !*words)
			return rc;
		*words++ = NULL;
		ranks = 0;
		first = true;
	}
}

int parts_split(struct parts *parts, char **words, int ranks)
{
	return split(parts, words, ranks, false);
}

/* Adds the words of a line; ':' stands between lines. */
static int line_add(struct command *words, const char *where, char *line)
{
	char *text = malloc(2 * strlen(line) + 1), *to = text;
	int rc = 0;

	if (!text)
		return vm_cli_no_memory();
	/* A '%' has no meaning here. */
	for (const char *at = line; *at && *at != '\n'; at++) {
		*to++ = *at;
		if (*at == '%')
			*to++ = '%';
	}
	*to = '\0';
	if (text[strspn(text, " \t\r")] && text[strspn(text, " \t")] != '#') {
		if (words->count)
			command_add(words, ":");
		rc = command_add_text(words, where, text, "", 0);
	}
	free(text);
	return rc ? rc : words->failed ? -VMPI_ENOMEM : 0;
}

static int file_split(struct parts *parts)
{
	size_t bytes = (parts->file.count + 1) * sizeof(*parts->words);

	parts->words = malloc(bytes);
	if (!parts->words)
		return vm_cli_no_memory();
	memcpy(parts->words, parts->file.list, bytes);
	return split(parts, parts->words, 0, true);
}

int parts_read(struct parts *parts, const char *path)
{
	FILE *file = fopen(path, "re");
	char where[PATH_SHOWN + 32];
	char *line = NULL;
	size_t room = 0;
	int number = 0, rc = 0;

	if (!file) {
		vm_cli_say("--configfile %s: %s", path, strerror(errno));
		return -VMPI_ENOENT;
	}
	while (!rc && getline(&line, &room, file) >= 0) {
		snprintf(where, sizeof(where), "%.*s:%d:", PATH_SHOWN, path,
			 ++number);
		rc = line_add(&parts->file, where, line);
	}
	if (!rc && ferror(file)) {
		vm_cli_say("--configfile %s: %s", path, strerror(errno));
		rc = -VMPI_EIO;
	} else if (!rc && !parts->file.count) {
		vm_cli_say("--configfile %s: the file names no program", path);
		rc = -VMPI_EINVAL;
	}
	free(line);
	fclose(file);
	return rc ? rc : file_split(parts);
}

int parts_ranks(const struct parts *parts)
{
	long sum = 0;

	for (int i = 0; i < parts->count; i++) {
		if (!parts->list[i].ranks)
			return 0;
		sum += parts->list[i].ranks;
	}
	return sum > VM_JOB_RANKS_MAX ? VM_JOB_RANKS_MAX : (int)sum;
}

int parts_of(const struct parts *parts, int rank)
{
	int i = 0;

	while (i + 1 < parts->count && rank >= parts->list[i].ranks)
		rank -= parts->list[i++].ranks;
	return i;
}

void parts_fini(struct parts *parts)
{
	for (int i = 0; i < parts->count; i++)
		free(parts->list[i].path);
	free(parts->list);
	free(parts->words);
	command_fini(&parts->file);
	*parts = (struct parts){ 0 };
}
