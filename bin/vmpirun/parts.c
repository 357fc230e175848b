/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of the first program are read with those of the job; the few that
 * a further one may have are read here.
 */
#include "parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/job.h"
#include "exports.h"
#include "report/cli.h"
#include "report/option.h"
#include "vmpi.h"

#define PATH_SHOWN 200

static int ranks_take(struct part *part, const char *value)
{
	return vm_option_number(&part->ranks, "-n", value, "a number of ranks",
				1, VM_JOB_RANKS_MAX);
}

static int export_take(struct part *part, const char *value)
{
	return exports_add(&part->exports, value);
}

static int exports_take(struct part *part, const char *value)
{
	return exports_add_list(&part->exports, value);
}

static int wdir_take(struct part *part, const char *value)
{
	free(part->wdir);
	part->wdir = NULL;
	return vm_option_path(&part->wdir, "-wdir", value, "a directory");
}

static const struct own_option {
	const char *name;
	int (*take)(struct part *part, const char *value);
	bool pair; /* VAR VALUE is VAR=VALUE */
} own_options[] = {
	{ "n", ranks_take, false },   { "np", ranks_take, false },
	{ "x", export_take, false },  { "envlist", exports_take, false },
	{ "wd", wdir_take, false },   { "wdir", wdir_take, false },
	{ "env", export_take, true },
};

/* The option that this word begins with. */
static const struct own_option *own_find(const char *word)
{
	const char *name = word + 1 + (word[1] == '-');
	const size_t count = sizeof(own_options) / sizeof(own_options[0]);

	for (size_t i = 0; i < count; i++)
		if (strlen(own_options[i].name) == strcspn(name, "=") &&
		    !strncmp(name, own_options[i].name, strcspn(name, "=")))
			return &own_options[i];
	vm_cli_say(
		"%s: before a program behind the first only -n N, -x VAR=VALUE, "
		"-env VAR VALUE, -envlist NAMES and -wdir DIR can be given; "
		"other options are the whole job's and come first",
		word);
	return NULL;
}

/* Takes the option at *words, which moves behind it. */
static int own_take(struct part *part, char ***words)
{
	char *word = *(*words)++, *value = strchr(word, '='), *both;
	const struct own_option *option = own_find(word);
	int rc;

	if (!option)
		return -VMPI_EINVAL;
	if (value)
		value++;
	else if (**words)
		value = *(*words)++;
	if (!value || (option->pair && !strchr(value, '=') && !**words)) {
		vm_cli_say("%s: a value is needed", word);
		return -VMPI_EINVAL;
	}
	if (!option->pair || strchr(value, '='))
		return option->take(part, value);
	if (asprintf(&both, "%s=%s", value, *(*words)++) < 0)
		return vm_cli_no_memory();
	rc = option->take(part, both);
	free(both);
	return rc;
}

/* Takes over what was said of the program. */
static int part_add(struct parts *parts, struct part *part)
{
	struct part *more = realloc(parts->list, ((size_t)parts->count + 1) *
							 sizeof(struct part));

	if (!more)
		return vm_cli_no_memory();
	parts->list = more;
	more[parts->count++] = *part;
	*part = (struct part){ 0 };
	return 0;
}

static void part_fini(struct part *part)
{
	command_fini(&part->exports);
	free(part->wdir);
	free(part->path);
}

/* Adds the program that begins at *words, which is moved to the next ":" or to
 * the end. */
static int program_add(struct parts *parts, char ***words, struct part *part)
{
	if (!**words || !strcmp(**words, ":")) {
		vm_cli_say("a program is needed on each side of ':'");
		return -VMPI_EINVAL;
	}
	part->words = *words;
	while (**words && strcmp(**words, ":") != 0)
		++*words;
	return part_add(parts, part);
}

/* Of words that begin with a program's options, if it may have some. */
static int split(struct parts *parts, char **words, int ranks, bool first)
{
	struct part part = { .ranks = ranks };
	int rc = 0;

	for (;;) {
		while (!rc && first && *words && (*words)[0] == '-')
			rc = own_take(&part, &words);
		if (!rc)
			rc = program_add(parts, &words, &part);
		if (rc || !*words)
			break;
		*words++ = NULL;
		first = true;
	}
	part_fini(&part);
	return rc;
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
		part_fini(&parts->list[i]);
	free(parts->list);
	free(parts->words);
	command_fini(&parts->file);
	*parts = (struct parts){ 0 };
}
