/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * It always ends with a zero.
 */
#include "report/live/text.h"

#include <stdarg.h>
#include <stdio.h>

void vm_text_add(struct vm_text *text, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->at + text->used, text->bytes - text->used, format,
		      args);
	va_end(args);
	if (n > 0)
		text->used += (size_t)n;
	if (text->used >= text->bytes)
		text->used = text->bytes - 1;
}
