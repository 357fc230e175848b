/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues that are all zeros when they are empty.
 */
#include "core/native/waiters.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "core/local/threads.h"
#include "core/rank/state.h"
#include "core/rank/wait.h"
#include "core/runtime/process.h"
#include "sched/worker.h"

VM_STATIC_ASSERT(sizeof(struct vm_lock) == sizeof(int),
		 "a lock of vmpi.h is one of ours");

uintptr_t vm_caller_id(void)
{
	struct vm_ult *self = vm_self;

	if (self)
		self = vm_ult_origin(self);
	/* A thread stays the same whether vmpi knows it or not. */
	return self && self->worker->index >= 0 ? (uintptr_t)self :
						  (uintptr_t)pthread_self();
}

void vm_waiters_lock(vmpi_waiters *waiters)
{
	vm_lock_take((struct vm_lock *)&waiters->lock);
}

void vm_waiters_unlock(vmpi_waiters *waiters)
{
	vm_lock_give((struct vm_lock *)&waiters->lock);
}

bool vm_queued_begin(struct vm_queued *self, uint32_t call)
{
	self->stranger = false;
	if (!vm_self && vm_process_rank() && vm_process_join())
		return false;
	if (!vm_self) {
		if (!vm_node || vm_thread_adopt(NULL))
			return false;
		self->stranger = true;
	}
	self->id = vm_caller_id();
	self->queued = false;
	vm_req_signal(&self->req);
	vm_wait_in(vm_self, call);
	return true;
}

void vm_queued_end(struct vm_queued *self)
{
	if (self->stranger)
		vm_thread_release();
}

/* Atomic, since vmpi_cond_signal() looks whether there is one without the lock;
 * the program's mutex orders that. */
static void first_set(vmpi_waiters *waiters, struct vm_queued *first)
{
	__atomic_store_n(&waiters->first, first, __ATOMIC_RELAXED);
}

void vm_waiters_append(vmpi_waiters *waiters, struct vm_queued *self)
{
	struct vm_queued *last = waiters->last;

	self->before = last;
	self->after = NULL;
	if (last)
		last->after = self;
	else
		first_set(waiters, self);
	waiters->last = self;
	self->queued = true;
}

static void take_out(vmpi_waiters *waiters, struct vm_queued *queued)
{
	if (queued->before)
		queued->before->after = queued->after;
	else
		first_set(waiters, queued->after);
	if (queued->after)
		queued->after->before = queued->before;
	else
		waiters->last = queued->before;
	queued->queued = false;
}

struct vm_queued *vm_waiters_pop(vmpi_waiters *waiters)
{
	struct vm_queued *first = waiters->first;

	if (first) {
		take_out(waiters, first);
		first->after = NULL;
	}
	return first;
}

struct vm_queued *vm_waiters_pop_all(vmpi_waiters *waiters)
{
	struct vm_queued *list = waiters->first, *queued;

	for (queued = list; queued; queued = queued->after)
		queued->queued = false;
	first_set(waiters, NULL);
	waiters->last = NULL;
	return list;
}

void vm_queued_wake(struct vm_queued *other)
{
	if (vm_self)
		vm_req_complete(&other->req);
	else
		vm_req_complete_outside(&other->req);
}

void vm_queued_wake_all(struct vm_queued *list)
{
	while (list) {
		struct vm_queued *next = list->after;

		vm_queued_wake(list);
		list = next;
	}
}

bool vm_queued_leave(struct vm_queued *self, vmpi_waiters *waiters)
{
	struct vm_req *req = &self->req;
	bool waits;

	vm_waiters_lock(waiters);
	waits = self->queued;
	if (waits)
		take_out(waiters, self);
	vm_waiters_unlock(waiters);
	/* Somebody is about to wake it, or has. */
	if (!waits)
		vm_req_await(&req, 1, 1);
	return !waits;
}

bool vm_queued_wait(struct vm_queued *self, vmpi_waiters *waiters,
		    uint64_t deadline_ns)
{
	struct vm_req *req = &self->req;

	return vm_req_await_one_until(&req, 1, deadline_ns) ||
	       vm_queued_leave(self, waiters);
}

bool vm_waiters_pause(uint64_t deadline_ns)
{
	if (deadline_ns != VMPI_NEVER && vm_clock_ns() >= deadline_ns)
		return false;
	vm_cpu_nap();
	return true;
}
