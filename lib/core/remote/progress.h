/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who looks at the network, and who waits for it.
 *
 * A worker with nothing to run looks at all ports (collaborative polling).  When
 * it is to sleep and nobody does so yet it becomes the watcher and sleeps where
 * the network wakes it; the others sleep as ever.  A worker that has something
 * to run while nobody watches wakes one that sleeps, to watch: so there is a
 * watcher, or one on his way, whenever some worker sleeps.
 *
 * Where the rank is a process (core/runtime/process.h) its threads do all that: the one
 * that waits watches, so that a message wakes it and nobody else.  The worker
 * watches while they compute.
 */
#ifndef CORE_REMOTE_PROGRESS_H
#define CORE_REMOTE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct vm_ult;
struct vm_worker;

/* The counts of vm_node->worker_pvars; 0 or -VMPI_ENOMEM.  Once there is a fabric. */
int vm_progress_init(void);
void vm_progress_fini(void);

/* vm_sched.poll, .thread_poll, .sleep and .kick of a node with a fabric. */
bool vm_progress_poll(struct vm_worker *worker);
bool vm_progress_thread_poll(void);
bool vm_progress_sleep(struct vm_worker *worker, uint64_t limit_ns);
void vm_progress_kick(struct vm_worker *worker);

/* vm_sched.thread_sleep and .thread_kick of a process that is a rank. */
bool vm_progress_thread_sleep(struct vm_ult *self);
bool vm_progress_thread_kick(struct vm_ult *ult);

#endif
