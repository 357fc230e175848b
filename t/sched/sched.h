/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers for a test, and ULTs on them.
 */
#ifndef T_SCHED_SCHED_H
#define T_SCHED_SCHED_H

#include "base/clock.h"
#include "sched/topo.h"
#include "sched/ult.h"
#include "sched/worker.h"
#include "tap.h"

static struct vm_stack_pool sched_stacks;
static bool sched_one_processor; /* as if there were no more */
static int sched_shared;	 /* as if so many processes shared each; or 0 */

static inline void sched_begin_hooks(int workers,
				     const struct vm_sched_hooks *hooks)
{
	if (vm_topo_init())
		bail("no topology");
	vm_topo_plan(workers);
	vm_stack_pool_init(&sched_stacks, 65536, 0);
	if (vm_sched_init(workers))
		bail("no %d workers", workers);
	vm_sched.hooks = *hooks;
	if (sched_one_processor) {
		vm_sched.crowded = workers > 1;
		vm_sched.processors = 1;
	}
	if (sched_shared)
		vm_sched.shared = sched_shared;
	if (vm_sched_start())
		bail("no %d workers", workers);
	if (!vm_worker_adopt(NULL))
		bail("no memory");
}

static inline void sched_begin(int workers)
{
	struct vm_sched_hooks none = { 0 };

	sched_begin_hooks(workers, &none);
}

static inline void sched_end(void)
{
	vm_worker_release(vm_self->worker);
	vm_sched_stop();
	vm_sched_fini();
	vm_stack_pool_fini(&sched_stacks);
}

/* A ULT on worker number `worker`, made runnable. */
static inline struct vm_ult *sched_new(int worker, int (*body)(void *),
				       void *arg)
{
	struct vm_ult *ult;

	if (vm_ult_new(&ult, &vm_sched.workers[worker], &sched_stacks, body,
		       arg))
		bail("no ULT");
	vm_ult_wake(ult);
	return ult;
}

/* Runs body as a ULT on worker 0 and waits for it. */
static inline int sched_call(int (*body)(void *), void *arg)
{
	return vm_ult_join(sched_new(0, body, arg));
}

#endif
