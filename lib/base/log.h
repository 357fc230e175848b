/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the runtime to standard error, a line at a time.
 *
 * The function that first detects an error logs it; its callers do not.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>
#include <stddef.h>

#include "base/err.h"

enum vm_log_level { VM_ERROR, VM_WARN, VM_INFO, VM_DEBUG };

/* Writes "vmpi: text" as one line if level is not above the log level.  If all
 * processes of a job fail with an error at their start, one of them writes it
 * (base/last_word.h). */
void vm_log(enum vm_log_level level, const char *format, ...) VM_PRINTF(2, 3);

/* Messages above `level` are dropped; the default is VM_WARN. */
void vm_log_set_level(enum vm_log_level level);

/*
 * Writes prefix and text as one line with one write(2), so that lines of
 * several threads and processes never mix; newlines and tabs become blanks, other
 * control characters "?".
 * line is room for it, and where it is cut.
 */
void vm_log_line(char *line, size_t bytes, const char *prefix,
		 const char *format, va_list args);

#endif
