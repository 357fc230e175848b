/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of at most 79 columns.
 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS 79

static void words_print(int indent, const char *text)
{
	int column = 0;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column && column + 1 + length > COLUMNS) {
			putchar('\n');
			column = 0;
		}
		column += printf("%*s%.*s", column ? 1 : indent, "", length,
				 text);
		text += length;
		text += strspn(text, " ");
	}
}

void text_words(int indent, const char *words)
{
	words_print(indent, words);
	putchar('\n');
}

void text_paragraph(int indent, const char *text)
{
	size_t length = strlen(text);

	words_print(indent, text);
	puts(length && text[length - 1] == '.' ? "" : ".");
}

void text_fields(const char *first, ...)
{
	const char *field = first;
	va_list args;

	va_start(args, first);
	while (field) {
		printf("%s%s", field == first ? "" : "\t", field);
		field = va_arg(args, const char *);
	}
	va_end(args);
	putchar('\n');
}
