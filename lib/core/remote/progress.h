/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress of the network: which workers poll the ports, and which one waits.
 *
 * A worker with nothing to run polls the ports that others do not poll
 * (collaborative polling).  When it is to sleep and there is no watcher it
 * becomes the watcher and sleeps where the network wakes it; the others sleep as
 * usual.  A worker that has something to run while there is no watcher wakes a
 * sleeping one to watch: so there is one, or will be, whenever some sleep.
 */
#ifndef CORE_REMOTE_PROGRESS_H
#define CORE_REMOTE_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/rank/state.h"

/*
 * In a process of one rank (core/runtime/process.h) its threads do all that:
 * the waiting thread is the watcher, so that a message wakes it directly. The
 * worker watches while they compute.
 */

struct vm_ult;
struct vm_worker;

/* The counts of vm_node->worker_pvars; 0 or -VMPI_ENOMEM.  Once there is a
 * fabric. */
int vm_progress_init(void);
void vm_progress_fini(void);

/* vm_sched.hooks.poll, .thread_poll, .partner_runs, .sleep and .kick of a node
 * with a fabric. */
bool vm_progress_poll(struct vm_worker *worker);
bool vm_progress_thread_poll(void);
bool vm_progress_partner_runs(void);
bool vm_progress_sleep(struct vm_worker *worker, uint64_t limit_ns);
void vm_progress_kick(struct vm_worker *worker);

/* A thread of a process that is a rank has waited, or sent, and polls for itself:
 * were the worker to watch, each message would wake it.  Counts of several
 * threads may get lost. */
static inline void vm_progress_waits(void)
{
	uint32_t waits = atomic_load_explicit(&vm_node->progress.thread_waits,
					      memory_order_relaxed);

	atomic_store_explicit(&vm_node->progress.thread_waits, waits + 1,
			      memory_order_relaxed);
}

/* Another thread has watched, and does no more: a worker that sleeps elsewhere
 * is woken to watch. */
void vm_progress_unwatched(void);

/* vm_sched.hooks.thread_sleep and .thread_kick of a process that is a rank. */
bool vm_progress_thread_sleep(struct vm_ult *self);
bool vm_progress_thread_kick(struct vm_ult *ult);

#endif
