/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers for texts that come again and again.
 */
#ifndef REPORT_TRACE_NAMES_H
#define REPORT_TRACE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct vm_trace_names;

/* NULL: out of memory. */
struct vm_trace_names *vm_trace_names_new(void);
void vm_trace_names_free(struct vm_trace_names *names);
/* The number of a text, from 1; *fresh: it has got it now.  0: out of memory. */
uint64_t vm_trace_name(struct vm_trace_names *names, const char *text,
		       bool *fresh);

#endif
