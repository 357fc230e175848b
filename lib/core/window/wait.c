/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting at a window.
 */
#include "core/window/wait.h"

#include "core/rank/wait.h"
#include "core/window/claim.h"
#include "core/window/window.h"

/* A task that waits; on its stack. */
struct waiter {
	struct vm_list link;
	struct vm_ult *ult;
};

int vm_window_wait(struct vm_window *window, bool (*come)(void *arg), void *arg)
{
	struct waiter waiter = { .ult = vm_self };

	for (;;) {
		bool there, lost;

		vm_lock_take(&window->lock);
		there = come(arg);
		lost = window->lost;
		if (!there && !lost)
			vm_list_append(&window->waiters, &waiter.link);
		vm_lock_give(&window->lock);
		if (there)
			return 0;
		if (lost)
			return -VMPI_EPEER;
		vm_wait_other(VM_EXPORT_WAIT);
	}
}

void vm_window_wake(struct vm_window *window)
{
	struct vm_list *link;

	/* A waiter is gone once its task runs. */
	while ((link = vm_list_pop(&window->waiters)))
		vm_ult_wake(vm_container_of(link, struct waiter, link)->ult);
	vm_lock_give(&window->lock);
}

void vm_window_lose(struct vm_window *window)
{
	struct vm_window_team *team;

	vm_lock_take(&window->lock);
	window->lost = true;
	team = window->team;
	for (size_t i = 0; team && i < team->size; i++)
		if (team->places[i].common)
			atomic_store_explicit(&team->places[i].common->broken,
					      true, memory_order_relaxed);
	vm_window_claims_end(window);
	vm_window_wake(window);
}
