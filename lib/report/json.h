/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the events of a Chrome trace, which Perfetto reads too: one object per
 * line.  An error is kept until the end.
 */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct vm_json {
	FILE *file;
	bool some;	/* an event is written */
	int error;	/* errno of the first failure, or 0 */
	int64_t origin; /* time 0 of the text */
};

/* What is written of every event; name is not escaped if it is a constant. */
struct vm_json_event {
	char phase;
	const char *name;
	int pid, tid;
	int64_t ns;
};

/* Opens FILE and begins the text: 0 or -VMPI_EIO, not logged (errno). */
int vm_json_open(struct vm_json *json, const char *path);

/*
 * An event; format, which may be NULL, makes its other members:
 * ",\"args\":{...}".
 */
void vm_json_event(struct vm_json *json, const struct vm_json_event *event,
		   const char *format, ...) VM_PRINTF(3, 4);

/* Ends the list of events; format makes the members behind it.  0, or -VMPI_EIO
 * with errno. */
int vm_json_close(struct vm_json *json, const char *format, ...)
	VM_PRINTF(2, 3);

/*
 * Text as the inside of a string: quotes and control characters escaped, what is
 * no UTF-8 replaced; cut where it does not fit.  Result: escaped.
 */
const char *vm_json_escape(char *escaped, size_t bytes, const char *text);

#endif
