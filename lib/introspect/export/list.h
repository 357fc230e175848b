/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared-memory files of this user that there are: those of running jobs,
 * and those that killed processes have left behind.
 */
#ifndef INTROSPECT_EXPORT_LIST_H
#define INTROSPECT_EXPORT_LIST_H

#include <stdint.h>

#include "introspect/export/export.h"

struct vm_share_entry {
	char path[VM_SHARE_PATH_MAX];
	char job[VM_SHARE_JOB_MAX];
	unsigned node;
};

/* Visits the files of this user in directory dir, in no order; a visit that
 * does not return 0 ends it with that result.  A directory that is not there
 * has none. */
int vm_share_each(const char *dir,
		  int (*visit)(const struct vm_share_entry *entry, void *arg),
		  void *arg);

#define VM_SHARE_OLD_S 3600

/*
 * Removes files of dead processes of this user: with old_s 0 at once, else those
 * that were found dead for the first time at least so many seconds ago, which
 * is noted in them.  Files of the living stay.  Result: how many are gone.
 */
unsigned vm_share_clean(const char *dir, uint64_t old_s);

#endif
