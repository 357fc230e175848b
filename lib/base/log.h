/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the runtime has to say, to standard error, a line at a time.
 *
 * Who first detects an error logs it; nobody above does.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/err.h"

enum vm_log_level { VM_ERROR, VM_WARN, VM_INFO, VM_DEBUG };

/* Writes "vmpi: text" as one line if level is not above the log level.  An error
 * by which all processes of a job end as they start is written by one of them
 * (base/last_word.h). */
void vm_log(enum vm_log_level level, const char *format, ...) VM_PRINTF(2, 3);

/* Messages above `level` are dropped; the default is VM_WARN. */
void vm_log_set_level(enum vm_log_level level);

#endif
