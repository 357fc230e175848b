/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No shell is asked: a command that is divided here is the same in --dry-run
 * and when it is run, and nothing in it is expanded twice.
 */
#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cli.h"
#include "vmpi.h"

static void no_memory(struct command *command)
{
	if (!command->failed)
		vm_cli_say("out of memory");
	command->failed = true;
}

/* Takes the word over. */
static void word_own(struct command *command, char *word)
{
	if (command->count + 2 > command->room && !command->failed) {
		size_t room = command->room ? 2 * command->room : 32;
		char **list = realloc(command->list, room * sizeof(*list));

		if (list) {
			command->list = list;
			command->room = room;
		} else {
			no_memory(command);
		}
	}
	if (!word)
		no_memory(command);
	if (command->failed) {
		free(word);
		return;
	}
	command->list[command->count++] = word;
	command->list[command->count] = NULL;
}

void command_add(struct command *command, const char *word)
{
	word_own(command, strdup(word));
}

void command_addf(struct command *command, const char *format, ...)
{
	va_list args;
	char *word;

	va_start(args, format);
	if (vasprintf(&word, format, args) < 0)
		word = NULL;
	va_end(args);
	word_own(command, word);
}

void command_move(struct command *to, struct command *from)
{
	for (size_t i = 0; i < from->count; i++)
		command_add(to, from->list[i]);
	command_fini(from);
}

void command_fini(struct command *command)
{
	for (size_t i = 0; i < command->count; i++)
		free(command->list[i]);
	free(command->list);
	*command = (struct command){ 0 };
}

/* A word being read. */
struct draft {
	FILE *stream;
	bool begun; /* also by empty quotes */
};

/* Replaces the escape after a '%' at *at, which is moved behind it. */
static int percent_take(FILE *stream, const char **at, const char *host,
			int number)
{
	switch ((*at)[1]) {
	case 'h':
		fputs(host, stream);
		break;
	case 'n':
		fprintf(stream, "%d", number);
		break;
	case '%':
		putc('%', stream);
		break;
	default:
		return -VMPI_EINVAL;
	}
	*at += 2;
	return 0;
}

/*
 * One word, from *at; stops behind it.  Result: 0, or -VMPI_EINVAL with *at at
 * what cannot be read.
 */
static int word_read(struct draft *draft, const char **at, const char *host,
		     int number)
{
	char quote = 0;

	for (; **at && (quote || !strchr(" \t\n", **at));) {
		char c = **at;

		draft->begun = true;
		if (c == '%') {
			if (percent_take(draft->stream, at, host, number))
				return -VMPI_EINVAL;
			continue;
		}
		if (c == quote || (!quote && (c == '\'' || c == '"'))) {
			quote = quote ? 0 : c;
		} else {
			if (c == '\\' && quote != '\'' && (*at)[1])
				c = *++*at;
			putc(c, draft->stream);
		}
		++*at;
	}
	return quote ? -VMPI_EINVAL : 0;
}

int command_add_text(struct command *command, const char *option,
		     const char *text, const char *host, int number)
{
	const char *at = text;
	size_t before = command->count;

	for (;;) {
		struct draft draft = { 0 };
		char *word = NULL;
		size_t bytes;
		int rc;

		at += strspn(at, " \t\n");
		if (!*at)
			break;
		draft.stream = open_memstream(&word, &bytes);
		if (!draft.stream) {
			no_memory(command);
			return -VMPI_ENOMEM;
		}
		rc = word_read(&draft, &at, host, number);
		if (fclose(draft.stream))
			no_memory(command);
		if (rc) {
			free(word);
			vm_cli_say("%s %s: %s", option, text,
				   *at ? "only %h, %n and %% are known" :
					 "a quote has no end");
			return rc;
		}
		word_own(command, word);
	}
	if (command->count > before || command->failed)
		return command->failed ? -VMPI_ENOMEM : 0;
	vm_cli_say("%s: a command is needed", option);
	return -VMPI_EINVAL;
}

static void word_quote(FILE *stream, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";

	if (word[0] && !word[strspn(word, plain)]) {
		fputs(word, stream);
		return;
	}
	putc('\'', stream);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", stream);
		else
			putc(*word, stream);
	putc('\'', stream);
}

void command_add_quoted(struct command *command, const char *word)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	if (stream) {
		word_quote(stream, word);
		if (fclose(stream)) {
			free(text);
			text = NULL;
		}
	}
	word_own(command, text);
}

void command_word_print(const char *word)
{
	word_quote(stdout, word);
}
