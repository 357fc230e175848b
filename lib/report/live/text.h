/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line of a report that is put together from pieces, in a buffer of the
 * caller's: what does not fit is cut off.
 */
#ifndef REPORT_LIVE_TEXT_H
#define REPORT_LIVE_TEXT_H

#include <stddef.h>

#include "base/err.h"

struct vm_text {
	char *at;
	size_t bytes, used;
};

void vm_text_add(struct vm_text *text, const char *format, ...) VM_PRINTF(2, 3);

#endif
