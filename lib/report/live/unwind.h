/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a snapshot (report/live/snapshot.h) to functions and lines.
 */
#ifndef REPORT_LIVE_UNWIND_H
#define REPORT_LIVE_UNWIND_H

#include <stdbool.h>
#include <sys/types.h>

#include "report/live/system_call.h"

#define VM_UNWIND_TEXT_MAX 160

/* The stack of a rank, in words. */
struct vm_stack_text {
	int index; /* the rank */
	bool known;
	/* The system call that it is in; empty: none, or unknown. */
	char system_call[VM_SYSTEM_CALL_MAX];
	unsigned count;
	char (*frames)[VM_UNWIND_TEXT_MAX]; /* the innermost first */
};

/*
 * Reads the stacks of a process: an array of *count, to be freed by
 * vm_unwind_free().  NULL: why says the reason.
 */
struct vm_stack_text *vm_unwind_process(pid_t pid, unsigned *count, char *why,
					size_t why_bytes);
void vm_unwind_free(struct vm_stack_text *stacks, unsigned count);

struct vm_where_ask;

/*
 * Says where a thread of a process is, which waits for that
 * (core/runtime/where.h): "in boom, crash.c:3, called from main, crash.c:8".  0,
 * or the reason in text: -VMPI_ENOENT: no function of the program is known;
 * -VMPI_ENOTSUP: the stack cannot be read.
 */
int vm_unwind_where(const struct vm_where_ask *ask, char *text, size_t bytes);

#endif
