/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ULTs of a worker whose time is set: those that sleep, and those with an
 * alarm, which may run meanwhile.  A heap by deadline that only the worker
 * touches.
 */
#ifndef SCHED_SLEEPERS_H
#define SCHED_SLEEPERS_H

struct vm_ult;
struct vm_worker;

/* Puts a ULT in, whose `deadline` is set. */
void vm_sleepers_add(struct vm_worker *worker, struct vm_ult *ult);

/* Takes one out that is in. */
void vm_sleepers_remove(struct vm_worker *worker, struct vm_ult *ult);

/* Takes the next one out; NULL: there is none. */
struct vm_ult *vm_sleepers_take(struct vm_worker *worker);

/* Those whose time has come become runnable, or their alarms ring. */
void vm_sleepers_run(struct vm_worker *worker);

#endif
