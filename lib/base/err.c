/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The texts of the error table, and the end of a process that is beyond repair.
 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STRINGIFY(x) #x
#define VERSION_TEXT(a, b, c) STRINGIFY(a) "." STRINGIFY(b) "." STRINGIFY(c)

const char *vmpi_strerror(int error)
{
	switch (error < 0 ? -error : error) {
	case 0:
		return "success";
#define ERROR_CASE(name, number, text) \
	case number:                   \
		return text;
		VMPI_ERRORS(ERROR_CASE)
	default:
		return "unknown error";
	}
}

const char *vmpi_version(void)
{
	return VERSION_TEXT(VMPI_VERSION_MAJOR, VMPI_VERSION_MINOR,
			    VMPI_VERSION_PATCH);
}

void vm_panic(const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n >= (int)sizeof(text))
		n = sizeof(text) - 1;
	dprintf(STDERR_FILENO, "vmpi: panic: %.*s\n", n, text);
	abort();
}
