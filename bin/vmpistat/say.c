/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes wrong is said in one line each.
 */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>

void complain(const char *format, ...)
{
	va_list args;

	fputs("vmpistat: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}
