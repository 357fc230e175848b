/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that use libc's standard input without naming it: here that of the
 * rank (stdin_variable.c).
 */
#include <stdarg.h>
#include <stdio.h>

#include "image.h"

#undef getc
#undef getc_unlocked
#undef getchar
#undef getchar_unlocked
OURS(getchar);
OURS(getchar_unlocked);
/* As <stdio.h> calls scanf() and vscanf(). */
int __isoc99_scanf(const char *format, ...);
int __isoc99_vscanf(const char *format, va_list args);
int __isoc23_scanf(const char *format, ...);
int __isoc23_vscanf(const char *format, va_list args);
OURS(__isoc99_scanf);
OURS(__isoc99_vscanf);
OURS(__isoc23_scanf);
OURS(__isoc23_vscanf);

int __isoc99_vfscanf(FILE *file, const char *format, va_list args);

int vm_image_getchar(void)
{
	return LIBC(getc)(stdin);
}

int vm_image_getchar_unlocked(void)
{
	return LIBC(getc_unlocked)(stdin);
}

int vm_image___isoc99_vscanf(const char *format, va_list args)
{
	return LIBC(__isoc99_vfscanf)(stdin, format, args);
}

int vm_image___isoc23_vscanf(const char *format, va_list args)
{
	return LIBC(__isoc99_vfscanf)(stdin, format, args);
}

#define SCANF(name)                                                  \
	int vm_image_##name(const char *format, ...)                 \
	{                                                            \
		va_list args;                                        \
		int count;                                           \
                                                                     \
		va_start(args, format);                              \
		count = LIBC(__isoc99_vfscanf)(stdin, format, args); \
		va_end(args);                                        \
		return count;                                        \
	}
SCANF(__isoc99_scanf)
SCANF(__isoc23_scanf)
