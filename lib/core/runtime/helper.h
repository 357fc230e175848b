/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers: OS threads that make system calls which may block, for ranks that go
 * on meanwhile.
 *
 * They are started when there is something to do, a few at most, and sleep
 * until the runtime stops.  A helper acts for no rank and can complete requests.
 */
#ifndef CORE_RUNTIME_HELPER_H
#define CORE_RUNTIME_HELPER_H

#include "base/list.h"

struct vm_node;

#define VM_HELPERS_MAX 4

/* Embedded in what run() is called with. */
struct vm_helper_job {
	struct vm_list link;
	void (*run)(struct vm_helper_job *job);
};

/* 0 or -VMPI_ENOMEM. */
int vm_helpers_init(struct vm_node *node);

/* Ends the helpers when all jobs are done.  Does nothing if called again. */
void vm_helpers_stop(struct vm_node *node);
void vm_helpers_fini(struct vm_node *node);

/* Has a helper do the job, or does it at once if there is none and no thread is
 * to be had. */
void vm_helper_do(struct vm_helper_job *job);

#endif
