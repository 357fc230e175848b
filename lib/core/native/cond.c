/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi.h: conditions.
 *
 * Who waits is in the queue before the mutex is unlocked, so that no signal is
 * lost that comes after that.
 */
#include "vmpi.h"

#include "core/instrument/calls.h"
#include "core/native/waiters.h"

#define ENTRY(name) VM_ENTRY_WAITS(vmpi_##name)
VM_API_CALLS_COND(ENTRY)
#undef ENTRY

/* As vm_queued_wait(), without the mutex, which the caller has. */
static bool wait_unlocked(vmpi_cond *cond, vmpi_mutex *mutex,
			  struct vm_queued *self, uint64_t deadline_ns)
{
	bool signalled;

	vm_waiters_lock(&cond->waiters);
	vm_waiters_append(&cond->waiters, self);
	vm_waiters_unlock(&cond->waiters);
	vmpi_mutex_unlock(mutex);
	signalled = vm_queued_wait(self, &cond->waiters, deadline_ns);
	vm_queued_end(self);
	vmpi_mutex_lock(mutex);
	return signalled;
}

static int wait(vmpi_cond *cond, vmpi_mutex *mutex, uint64_t deadline_ns,
		uint32_t call)
{
	struct vm_queued self;

	if (!cond || !mutex)
		return -VMPI_EINVAL;
	if (!vm_mutex_held(mutex) || !vm_queued_begin(&self, call))
		return -VMPI_ESTATE;
	return wait_unlocked(cond, mutex, &self, deadline_ns) ? 0 :
								-VMPI_ETIMEDOUT;
}

int vmpi_cond_wait(vmpi_cond *cond, vmpi_mutex *mutex)
{
	return wait(cond, mutex, VMPI_NEVER, VM_API_CALL_cond_wait);
}

int vmpi_cond_wait_until(vmpi_cond *cond, vmpi_mutex *mutex,
			 uint64_t deadline_ns)
{
	return wait(cond, mutex, deadline_ns, VM_API_CALL_cond_wait_until);
}

/* Whether there may be somebody: who is in the queue had the mutex when coming,
 * so a caller who has had it since sees that. */
static bool is_waited_for(const vmpi_cond *cond)
{
	return __atomic_load_n(&cond->waiters.first, __ATOMIC_RELAXED) != NULL;
}

/* Wakes those whom pop() takes out; who comes meanwhile waits for another one. */
static int wake(vmpi_cond *cond, struct vm_queued *(*pop)(vmpi_waiters *))
{
	struct vm_queued *list;

	if (!cond)
		return -VMPI_EINVAL;
	if (!is_waited_for(cond))
		return 0;
	vm_waiters_lock(&cond->waiters);
	list = pop(&cond->waiters);
	vm_waiters_unlock(&cond->waiters);
	vm_queued_wake_all(list);
	return 0;
}

int vmpi_cond_signal(vmpi_cond *cond)
{
	return wake(cond, vm_waiters_pop);
}

int vmpi_cond_broadcast(vmpi_cond *cond)
{
	return wake(cond, vm_waiters_pop_all);
}
