/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi.h: mutexes.
 *
 * One word names the holder, and says whether others may be waiting; they are
 * in the queue, and the holder gives the mutex to the first of them.  So nobody
 * overtakes, and only the holder's word is touched when nobody waits.
 */
#include "vmpi.h"

#include "base/err.h"
#include "core/instrument/calls.h"
#include "core/native/waiters.h"

#define ENTRY(name) VM_ENTRY_WAITS(vmpi_##name)
VM_API_CALLS_MUTEX(ENTRY)
#undef ENTRY

#define WAITED_FOR VM_MUTEX_WAITED_FOR

/* Pairs with the releases of unlock(). */
static bool take(vmpi_mutex *mutex, uintptr_t *holder, uintptr_t id)
{
	*holder = 0;
	return __atomic_compare_exchange_n(&mutex->holder, holder, id, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Takes it if it is free now, or else queues the caller: whether it has it. */
static bool take_or_queue(vmpi_mutex *mutex, struct vm_queued *self)
{
	uintptr_t holder;
	bool has;

	vm_waiters_lock(&mutex->waiters);
	do
		has = take(mutex, &holder, self->id);
	while (!has && !(holder & WAITED_FOR) &&
	       !__atomic_compare_exchange_n(
		       &mutex->holder, &holder, holder | WAITED_FOR, false,
		       __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (!has)
		vm_waiters_append(&mutex->waiters, self);
	vm_waiters_unlock(&mutex->waiters);
	return has;
}

static int lock(vmpi_mutex *mutex, uint64_t deadline_ns, uint32_t call)
{
	uintptr_t holder, id = vm_caller_id();
	struct vm_queued self;
	bool has;

	if (VM_LIKELY(take(mutex, &holder, id)))
		return 0;
	if ((holder & ~WAITED_FOR) == id)
		return -VMPI_ESTATE;
	if (!vm_queued_begin(&self, call)) {
		do
			has = take(mutex, &holder, id);
		while (!has && vm_waiters_pause(deadline_ns));
		return has ? 0 : -VMPI_ETIMEDOUT;
	}
	has = take_or_queue(mutex, &self) ||
	      vm_queued_wait(&self, &mutex->waiters, deadline_ns);
	vm_queued_end(&self);
	return has ? 0 : -VMPI_ETIMEDOUT;
}

int vmpi_mutex_lock(vmpi_mutex *mutex)
{
	return mutex ? lock(mutex, VMPI_NEVER, VM_API_CALL_mutex_lock) :
		       -VMPI_EINVAL;
}

int vmpi_mutex_lock_until(vmpi_mutex *mutex, uint64_t deadline_ns)
{
	return mutex ? lock(mutex, deadline_ns, VM_API_CALL_mutex_lock_until) :
		       -VMPI_EINVAL;
}

int vmpi_mutex_try(vmpi_mutex *mutex)
{
	uintptr_t holder, id = vm_caller_id();

	if (!mutex)
		return -VMPI_EINVAL;
	if (take(mutex, &holder, id))
		return 0;
	return (holder & ~WAITED_FOR) == id ? -VMPI_ESTATE : -VMPI_EAGAIN;
}

/* Gives it to the first who waits; there may be none, who has given up. */
static void hand_over(vmpi_mutex *mutex)
{
	struct vm_queued *next;
	uintptr_t holder = 0;

	vm_waiters_lock(&mutex->waiters);
	next = vm_waiters_pop(&mutex->waiters);
	if (next)
		holder = next->id | (mutex->waiters.first ? WAITED_FOR : 0);
	__atomic_store_n(&mutex->holder, holder, __ATOMIC_RELEASE);
	vm_waiters_unlock(&mutex->waiters);
	if (next)
		vm_queued_wake(next);
}

int vmpi_mutex_unlock(vmpi_mutex *mutex)
{
	uintptr_t holder, id = vm_caller_id();

	if (!mutex)
		return -VMPI_EINVAL;
	holder = id;
	if (VM_LIKELY(__atomic_compare_exchange_n(&mutex->holder, &holder, 0,
						  false, __ATOMIC_RELEASE,
						  __ATOMIC_RELAXED)))
		return 0;
	if (holder != (id | WAITED_FOR))
		return -VMPI_ESTATE;
	hand_over(mutex);
	return 0;
}
