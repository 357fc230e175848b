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

void vm_log(enum vm_log_level level, const char *format, ...)
{
	static const char prefix[] = "vmpi: ";
	char line[1024];
	int saved = errno;
	va_list args;
	size_t length = sizeof(prefix) - 1;
	int n;

	bool last = level == VM_ERROR && vm_last_word_starting();

	if ((int)level > atomic_load_explicit(&log_level, memory_order_relaxed))
		return;
	/* Another process has printed it. */
	if (last && !vm_last_word_take())
		return;
	memcpy(line, prefix, length);
	va_start(args, format);
	n = vsnprintf(line + length, sizeof(line) - length - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	length += (size_t)n;
	if (length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	while (write(STDERR_FILENO, line, length) < 0 && errno == EINTR)
		;
	if (last)
		vm_last_word_give();
	errno = saved;
}
