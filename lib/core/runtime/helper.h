/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers: OS threads that make system calls which may block, for ranks that go
 * on meanwhile.
 *
 * They are started when there is something to do, a bounded number, and sleep
 * until the runtime stops.  A helper acts for no rank and can complete requests.
 */
#ifndef CORE_RUNTIME_HELPER_H
#define CORE_RUNTIME_HELPER_H

#include "base/list.h"

struct vm_helpers;

#define VM_HELPERS_FILES 4   /* at most, for files */
#define VM_HELPERS_ERRANDS 4 /* for errands; each may wait for messages */

/* Embedded in what run() is called with. */
struct vm_helper_job {
	struct vm_list link;
	void (*run)(struct vm_helper_job *job);
};

/* Helpers of a kind, of which there are so many at most: 0 or -VMPI_ENOMEM. */
int vm_helpers_new(struct vm_helpers **helpers, int most);

/* Ends them when all jobs are done.  Does nothing if called again, or with
 * NULL. */
void vm_helpers_stop(struct vm_helpers *helpers);
void vm_helpers_free(struct vm_helpers **helpers);

/* Has a helper do the job, or does it at once if there is none and no thread is
 * to be had. */
void vm_helper_do(struct vm_helpers *helpers, struct vm_helper_job *job);

/* Has one take an errand (core/local/errand.h), if a thread is to be had. */
void vm_helper_errand(void);

#endif
