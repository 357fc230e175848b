/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All shared-memory files of this user: those of running jobs, and those that
 * killed processes have left behind.
 */
#ifndef INTROSPECT_EXPORT_LIST_H
#define INTROSPECT_EXPORT_LIST_H

#include <stdint.h>

#include "introspect/export/export.h"

struct vm_export_entry {
	char path[VM_EXPORT_PATH_MAX];
	char job[VM_EXPORT_JOB_MAX];
	unsigned node;
};

/* Visits the files of this user in directory dir, in no order; a visit that
 * does not return 0 ends it with that result.  A missing directory has none. */
int vm_export_each(const char *dir,
		   int (*visit)(const struct vm_export_entry *entry, void *arg),
		   void *arg);

#define VM_EXPORT_OLD_S 3600

/*
 * Removes files of dead processes of this user, of one job or (NULL) of all:
 * with old_s 0 at once; else those that nobody wants (vm_export_gone_fd()) at
 * once, and the others if they were found dead for the first time at least so
 * many seconds ago, which is noted in them.  Files of living processes stay.
 * Of one job, which ends, those go at once that their process had not finished.
 * Result: how many were removed.
 */
unsigned vm_export_clean(const char *dir, const char *job, uint64_t old_s);

#endif
