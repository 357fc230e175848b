/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Those who wait for a mutex, a condition or an event, in the order in which
 * they came: tasks of any rank, and OS threads.
 *
 * A waiter lies on the stack of who waits, and is woken by its request.
 */
#ifndef CORE_NATIVE_WAITERS_H
#define CORE_NATIVE_WAITERS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/local/req.h"
#include "vmpi.h"

/* In vmpi_mutex.holder, beside vm_caller_id(): somebody may be waiting. */
#define VM_MUTEX_WAITED_FOR ((uintptr_t)1)

/* Guarded by the lock of its queue while `queued`. */
struct vm_queued {
	struct vm_queued *before, *after;
	struct vm_req req;
	uintptr_t id; /* vm_caller_id() */
	bool queued;
	bool stranger; /* vmpi knows the thread only while it waits */
};

/* The caller: the task, or the OS thread, whether vmpi knows it or not.  Even,
 * never 0. */
uintptr_t vm_caller_id(void);

/* Whether the caller has the mutex. */
static inline bool vm_mutex_held(const vmpi_mutex *mutex)
{
	uintptr_t holder = __atomic_load_n(&mutex->holder, __ATOMIC_RELAXED);

	return (holder & ~VM_MUTEX_WAITED_FOR) == vm_caller_id();
}

/* For a few instructions. */
void vm_waiters_lock(vmpi_waiters *waiters);
void vm_waiters_unlock(vmpi_waiters *waiters);

/* Makes a waiter for the caller, who is in this call of vmpi.h; false: vmpi
 * cannot let this thread wait, who then has to try again and again. */
bool vm_queued_begin(struct vm_queued *self, uint32_t call);
void vm_queued_end(struct vm_queued *self);

/* Under the lock: at the end of the queue; the first one, or all in a list,
 * taken out, or NULL. */
void vm_waiters_append(vmpi_waiters *waiters, struct vm_queued *self);
struct vm_queued *vm_waiters_pop(vmpi_waiters *waiters);
struct vm_queued *vm_waiters_pop_all(vmpi_waiters *waiters);

/* Wake one that was popped, or a list, without the lock.  Any thread. */
void vm_queued_wake(struct vm_queued *other);
void vm_queued_wake_all(struct vm_queued *list);

/* Takes it out of the queue; whether it had been woken. */
bool vm_queued_leave(struct vm_queued *self, vmpi_waiters *waiters);

/* Waits until it is woken, or till the deadline: then it is taken out of the
 * queue, and the result is false.  May switch. */
bool vm_queued_wait(struct vm_queued *self, vmpi_waiters *waiters,
		    uint64_t deadline_ns);

/* For a thread that cannot wait: a pause; false: the deadline has passed. */
bool vm_waiters_pause(uint64_t deadline_ns);

#endif
