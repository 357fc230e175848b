/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node process writes to the same terminal at the same time: one write per
 * line keeps the lines whole.
 */
#include "say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void say(const char *format, ...)
{
	static const char prefix[] = "vmpirun: ";
	char line[4096];
	size_t length = sizeof(prefix) - 1;
	va_list args;
	int n;

	memcpy(line, prefix, length);
	va_start(args, format);
	n = vsnprintf(line + length, sizeof(line) - length - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	length += (size_t)n;
	if (length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	/* What the user typed may be anything; a message stays one line. */
	for (size_t i = 0; i < length; i++)
		if (line[i] == '\n')
			line[i] = ' ';
	line[length++] = '\n';
	while (write(STDERR_FILENO, line, length) < 0 && errno == EINTR)
		;
}
