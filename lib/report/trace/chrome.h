/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the events of a Chrome trace, which Perfetto reads too: one object per
 * line.  An error is kept until the end.
 */
#ifndef REPORT_TRACE_CHROME_H
#define REPORT_TRACE_CHROME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct vm_chrome {
	FILE *file;
	bool some;	/* an event is written */
	int error;	/* errno of the first failure, or 0 */
	int64_t origin; /* time 0 of the text */
};

/* What is written of every event; name is not escaped if it is a constant. */
struct vm_chrome_event {
	char phase;
	const char *name;
	int pid, tid;
	int64_t ns;
};

/* Opens FILE and begins the text: 0 or -VMPI_EIO, not logged (errno). */
int vm_chrome_open(struct vm_chrome *chrome, const char *path);

/*
 * An event; format, which may be NULL, makes its other members:
 * ",\"args\":{...}".
 */
void vm_chrome_event(struct vm_chrome *chrome,
		     const struct vm_chrome_event *event, const char *format,
		     ...) VM_PRINTF(3, 4);

/* Ends the list of events; format makes the members behind it.  0, or -VMPI_EIO
 * with errno. */
int vm_chrome_close(struct vm_chrome *chrome, const char *format, ...)
	VM_PRINTF(2, 3);

#endif
