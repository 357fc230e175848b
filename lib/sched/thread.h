/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OS threads of the program that wait, test or yield: adopted ones (worker.h).
 */
#ifndef SCHED_THREAD_H
#define SCHED_THREAD_H

#include <stdbool.h>

#include "sched/worker.h"

/*
 * Lets an adopted OS thread poll ready(arg), for as long as a worker with
 * nothing to do polls; returns whether it became true.  After false the thread
 * is expected to suspend, which then sleeps at once.
 */
bool vm_thread_spin(struct vm_worker *worker, bool (*ready)(void *arg),
		    void *arg);

/* The calling adopted thread has no code of the program to run, and waits for
 * some in the kernel, from the one to the other: idle workers need not leave it
 * their processor. */
void vm_thread_away(void);
void vm_thread_back(void);

/* Inside sched: vm_ult_yield() of an OS thread, whose processor it yields unless
 * the last yield took long. */
void vm_thread_yield(struct vm_worker *worker);

/* Inside sched: vm_ult_poll() of an OS thread: one that is a rank polls the
 * network itself. */
bool vm_thread_poll(struct vm_worker *worker);

#endif
