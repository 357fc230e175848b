/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deputies: OS threads that run code of a task in its place.
 *
 * The master of an OpenMP team waits inside the OpenMP library, in the kernel,
 * for threads that may be waiting for messages.  A task that did so would keep
 * all ranks of its worker from running.  So a deputy becomes the master, while
 * the task waits as tasks do.
 */
#ifndef DEPUTY_H
#define DEPUTY_H

#include <stdbool.h>

/*
 * The deputy is the task in all that the code can see: rank, errno,
 * thread-local variables of the program and of shared libraries, rounding mode.
 * A rank keeps its deputies until it ends.
 */

struct vm_image_copy;
struct vm_rank;

/* Has run(arg) run by a deputy of the calling task and waits for its end;
 * false: there is no thread for one, and nothing was done.  May switch. */
bool deputy_run(void (*run)(void *arg), void *arg);

/* Ends all deputies of a copy, which its task has left. */
void deputies_end(struct vm_image_copy *copy);

/* Makes the calling OS thread act for a rank, whichever it acted for before. */
void thread_act_for(struct vm_rank *rank);

#endif
