/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No shell is asked: a command that is divided here is the same in --dry-run
 * and when it is run, and nothing in it is expanded twice.
 */
#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cli.h"
#include "vmpi.h"

static void no_memory(struct words *words)
{
	if (!words->failed)
		vm_cli_say("out of memory");
	words->failed = true;
}

/* Takes the word over. */
static void word_own(struct words *words, char *word)
{
	if (words->count + 2 > words->room && !words->failed) {
		size_t room = words->room ? 2 * words->room : 32;
		char **list = realloc(words->list, room * sizeof(*list));

		if (list) {
			words->list = list;
			words->room = room;
		} else {
			no_memory(words);
		}
	}
	if (!word)
		no_memory(words);
	if (words->failed) {
		free(word);
		return;
	}
	words->list[words->count++] = word;
	words->list[words->count] = NULL;
}

void words_add(struct words *words, const char *word)
{
	word_own(words, strdup(word));
}

void words_addf(struct words *words, const char *format, ...)
{
	va_list args;
	char *word;

	va_start(args, format);
	if (vasprintf(&word, format, args) < 0)
		word = NULL;
	va_end(args);
	word_own(words, word);
}

void words_fini(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->list[i]);
	free(words->list);
	*words = (struct words){ 0 };
}

/* A word being read. */
struct draft {
	FILE *stream;
	bool begun; /* also by empty quotes */
};

/* What follows a '%' at *at, which is moved behind it. */
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

int words_add_command(struct words *words, const char *option,
		      const char *command, const char *host, int number)
{
	const char *at = command;
	size_t before = words->count;

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
			no_memory(words);
			return -VMPI_ENOMEM;
		}
		rc = word_read(&draft, &at, host, number);
		if (fclose(draft.stream))
			no_memory(words);
		if (rc) {
			free(word);
			vm_cli_say("%s %s: %s", option, command,
				   *at ? "only %h, %n and %% are known" :
					 "a quote has no end");
			return rc;
		}
		word_own(words, word);
	}
	if (words->count > before || words->failed)
		return words->failed ? -VMPI_ENOMEM : 0;
	vm_cli_say("%s: a command is needed", option);
	return -VMPI_EINVAL;
}

void word_print(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";

	if (word[0] && !word[strspn(word, plain)]) {
		fputs(word, stdout);
		return;
	}
	putchar('\'');
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*word);
	putchar('\'');
}
