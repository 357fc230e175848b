/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard input belongs to rank 0; for all other ranks it is empty.
 *
 * A program that reads it brings this in: its own `stdin`, and the functions
 * that use libc's without naming it.
 */
#include <stdarg.h>
#include <stdio.h>

#include "vmpi.h"

extern struct _IO_FILE_plus _IO_2_1_stdin_; /* libc's */

FILE *stdin;

int __isoc99_scanf(const char *format, ...);
int __isoc99_vscanf(const char *format, va_list args);
int __isoc99_vfscanf(FILE *file, const char *format, va_list args);
int __isoc23_scanf(const char *format, ...);
int __isoc23_vscanf(const char *format, va_list args);

__attribute__((constructor(101))) static void start(void)
{
	stdin = (FILE *)&_IO_2_1_stdin_;
	/* Without a read function every read is the end of the file. */
	if (vmpi_rank() > 0)
		stdin = fopencookie(NULL, "r", (cookie_io_functions_t){ 0 });
}

#undef getchar
#undef getchar_unlocked
int getchar(void)
{
	return getc(stdin);
}

int getchar_unlocked(void)
{
	return getc_unlocked(stdin);
}

int __isoc99_vscanf(const char *format, va_list args)
{
	return __isoc99_vfscanf(stdin, format, args);
}

int __isoc23_vscanf(const char *format, va_list args)
{
	return __isoc99_vfscanf(stdin, format, args);
}

#define SCANF(name)                                            \
	int name(const char *format, ...)                      \
	{                                                      \
		va_list args;                                  \
		int count;                                     \
                                                               \
		va_start(args, format);                        \
		count = __isoc99_vfscanf(stdin, format, args); \
		va_end(args);                                  \
		return count;                                  \
	}
SCANF(__isoc99_scanf)
SCANF(__isoc23_scanf)
