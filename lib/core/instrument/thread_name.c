/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that a rank makes inherit the name.  A switch costs a call of the
 * kernel, and one that is not asked for nothing.
 */
#include "core/instrument/thread_name.h"

#include <pthread.h>
#include <stdio.h>

#include "core/rank/vars.h"
#include "sched/worker.h"

/* Who heard of the switches before: a sanitizer (bin/vmpi-node).  Written
 * before the workers start. */
static void (*on_stack)(struct vm_ult *from, struct vm_ult *to, bool ends);

static void name_set(const struct vm_rank *rank)
{
	char name[16];

	snprintf(name, sizeof(name), "rank %d", rank->index);
	pthread_setname_np(pthread_self(), name);
}

static void switched(struct vm_ult *from, struct vm_ult *to, bool ends)
{
	if (to->owner && to->owner != from->owner)
		name_set(to->owner);
	if (on_stack)
		on_stack(from, to, ends);
}

void vm_thread_names_start(void)
{
	if (!core_cvar.thread_names || vm_sched.on_stack == switched)
		return;
	on_stack = vm_sched.on_stack;
	vm_sched_report_stacks(switched);
}

void vm_thread_name(const struct vm_rank *rank)
{
	if (core_cvar.thread_names)
		name_set(rank);
}
