/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Claims to locks, granted in order.
 */
#include "core/window/claim.h"

#include "core/rank/wait.h"
#include "core/window/window.h"

/* A task that waits for a lock; on its stack. */
struct claim {
	struct vm_list link;
	struct vm_ult *ult;
	bool exclusive;
};

/* Takes it, if nobody has it who minds; under the window's lock. */
static bool take(struct vm_window *window, bool exclusive)
{
	if (window->exclusive || (exclusive && window->shared))
		return false;
	if (exclusive)
		window->exclusive = true;
	else
		window->shared++;
	return true;
}

void vm_window_lock_wait(struct vm_window *window, bool exclusive)
{
	struct claim claim = { .ult = vm_self, .exclusive = exclusive };
	bool taken;

	vm_lock_take(&window->lock);
	taken = vm_list_empty(&window->claims) && take(window, exclusive);
	if (!taken)
		vm_list_append(&window->claims, &claim.link);
	vm_lock_give(&window->lock);
	if (!taken)
		vm_wait_other(VM_EXPORT_WAIT);
}

void vm_window_unlock(struct vm_window *window, bool exclusive)
{
	struct vm_list granted, *link;

	vm_list_init(&granted);
	vm_lock_take(&window->lock);
	if (exclusive)
		window->exclusive = false;
	else
		window->shared--;
	while (!vm_list_empty(&window->claims)) {
		link = window->claims.next;
		if (!take(window,
			  vm_container_of(link, struct claim, link)->exclusive))
			break;
		vm_list_remove(link);
		vm_list_append(&granted, link);
	}
	vm_lock_give(&window->lock);
	/* A claim is gone once its task runs. */
	while ((link = vm_list_pop(&granted)))
		vm_ult_wake(vm_container_of(link, struct claim, link)->ult);
}
