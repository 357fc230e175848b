/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One write(2) per line, so that lines of several threads never mix.
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/last_word.h"

static _Atomic int log_level = VM_WARN;

void vm_log_set_level(enum vm_log_level level)
{
	atomic_store_explicit(&log_level, (int)level, memory_order_relaxed);
}

void vm_log_line(char *line, size_t bytes, const char *prefix,
		 const char *format, va_list args)
{
	size_t length = strlen(prefix);
	int n;

	memcpy(line, prefix, length);
	n = vsnprintf(line + length, bytes - length - 1, format, args);
	if (n < 0)
		return;
	length += (size_t)n;
	if (length > bytes - 2)
		length = bytes - 2;
	/* Names of files and hosts are not to move a terminal's cursor. */
	for (size_t i = 0; i < length; i++)
		if (line[i] == '\n' || line[i] == '\t')
			line[i] = ' ';
		else if ((unsigned char)line[i] < ' ' || line[i] == 127)
			line[i] = '?';
	line[length++] = '\n';
	while (write(STDERR_FILENO, line, length) < 0 && errno == EINTR)
		;
}

void vm_log(enum vm_log_level level, const char *format, ...)
{
	bool last = level == VM_ERROR && vm_last_word_starting();
	int saved = errno;
	char line[1024];
	va_list args;

	if (level == VM_ERROR)
		vm_last_word_count();
	if ((int)level > atomic_load_explicit(&log_level, memory_order_relaxed))
		return;
	/* Another process has said it. */
	if (last && !vm_last_word_take())
		return;
	va_start(args, format);
	vm_log_line(line, sizeof(line), "vmpi: ", format, args);
	va_end(args);
	if (last)
		vm_last_word_give();
	errno = saved;
}
