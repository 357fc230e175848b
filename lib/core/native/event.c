/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi.h: events.
 *
 * The state says whether somebody may be waiting; it changes to and from WAITED
 * with the lock held, so that a set that finds nobody takes no lock.
 */
#include "core/native/event.h"

#include "core/instrument/calls.h"

#define ENTRY(name) VM_ENTRY_WAITS(vmpi_##name)
VM_API_CALLS_EVENT(ENTRY)
#undef ENTRY

enum { NOT_YET, HAPPENED, WAITED };

/* Pairs with the release in vmpi_event_set(). */
static bool has_happened(const vmpi_event *event)
{
	return __atomic_load_n(&event->state, __ATOMIC_ACQUIRE) == HAPPENED;
}

static bool change(vmpi_event *event, int from, int to)
{
	return __atomic_compare_exchange_n(&event->state, &from, to, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

int vmpi_event_set(vmpi_event *event)
{
	struct vm_queued *first;

	if (!event)
		return -VMPI_EINVAL;
	if (change(event, NOT_YET, HAPPENED) || has_happened(event))
		return 0;
	vm_waiters_lock(&event->waiters);
	__atomic_store_n(&event->state, HAPPENED, __ATOMIC_RELEASE);
	first = vm_waiters_pop_all(&event->waiters);
	vm_waiters_unlock(&event->waiters);
	vm_queued_wake_all(first);
	return 0;
}

int vmpi_event_reset(vmpi_event *event)
{
	if (!event)
		return -VMPI_EINVAL;
	change(event, HAPPENED, NOT_YET);
	return 0;
}

int vmpi_event_test(const vmpi_event *event)
{
	if (!event)
		return -VMPI_EINVAL;
	return has_happened(event) ? 0 : -VMPI_EAGAIN;
}

bool vm_event_enter(vmpi_event *event, struct vm_queued *self)
{
	bool happened, waits;

	vm_waiters_lock(&event->waiters);
	do {
		happened = has_happened(event);
		waits = !happened &&
			(change(event, NOT_YET, WAITED) ||
			 __atomic_load_n(&event->state, __ATOMIC_RELAXED) ==
				 WAITED);
	} while (!happened && !waits);
	if (waits)
		vm_waiters_append(&event->waiters, self);
	vm_waiters_unlock(&event->waiters);
	return happened;
}

static int wait(vmpi_event *event, uint64_t deadline_ns, uint32_t call)
{
	struct vm_queued self;
	bool happened = false;

	if (!event)
		return -VMPI_EINVAL;
	if (has_happened(event))
		return 0;
	if (!vm_queued_begin(&self, call)) {
		while (!happened && vm_waiters_pause(deadline_ns))
			happened = has_happened(event);
		return happened ? 0 : -VMPI_ETIMEDOUT;
	}
	happened = vm_event_enter(event, &self) ||
		   vm_queued_wait(&self, &event->waiters, deadline_ns);
	vm_queued_end(&self);
	return happened ? 0 : -VMPI_ETIMEDOUT;
}

int vmpi_event_wait(vmpi_event *event)
{
	return wait(event, VMPI_NEVER, VM_API_CALL_event_wait);
}

int vmpi_event_wait_until(vmpi_event *event, uint64_t deadline_ns)
{
	return wait(event, deadline_ns, VM_API_CALL_event_wait_until);
}
