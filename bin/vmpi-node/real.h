/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the functions that replace libc's.
 */
#ifndef NODE_REAL_H
#define NODE_REAL_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

#include "node.h"
#include "sched/worker.h"

/* libc's own function of the name, found once. */
#define REAL(name)                                                          \
	({                                                                  \
		static _Atomic(__typeof__(&name)) real;                     \
		__typeof__(&name) found = real;                             \
                                                                            \
		if (!found)                                                 \
			real = found =                                      \
				(__typeof__(&name))dlsym(RTLD_NEXT, #name); \
		found;                                                      \
	})

/* Whether the caller is a task of a rank that shares its worker with others, or
 * with messages that only the worker handles: it must not block there.  Not
 * while the worker idles on the stack of a task that waits, which must not be
 * made to wait once more. */
static inline bool node_on_task(void)
{
	struct vm_rank *rank = vm_rank_self();

	return rank && rank->image && vm_self->worker->index >= 0 &&
	       !vm_self->worker->idles;
}

/* pthread_create() without attributes, of a thread that is no rank's. */
int node_thread_new(pthread_t *thread, void *(*run)(void *), void *arg);

#endif
