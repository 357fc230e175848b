/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of source for addresses of a file of a program.
 */
#ifndef REPORT_LIVE_LINES_H
#define REPORT_LIVE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm_lines;

/* The file's debug information; NULL: it cannot be read. */
struct vm_lines *vm_lines_open(const char *path);
void vm_lines_close(struct vm_lines *source);

/* "heat.c:31" of the instruction before this address of the file, as a call
 * returns to it; false: it is not known, and text is empty. */
bool vm_lines_caller(const struct vm_lines *source, char *text, size_t bytes,
		     uint64_t address);

#endif
