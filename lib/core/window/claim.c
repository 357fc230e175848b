/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Claims to locks, granted in order.
 */
#include "core/window/claim.h"

#include "core/rank/wait.h"
#include "core/window/window.h"

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

bool vm_window_claim(struct vm_window *window, struct vm_window_claim *claim)
{
	bool taken;

	vm_lock_take(&window->lock);
	taken = vm_list_empty(&window->claims) &&
		take(window, claim->exclusive);
	if (!taken)
		vm_list_append(&window->claims, &claim->link);
	if (!taken && window->lost)
		vm_window_claims_end(window);
	vm_lock_give(&window->lock);
	return taken;
}

/* A task that waits for a lock; on its stack. */
struct waiting {
	struct vm_window_claim claim;
	struct vm_ult *ult;
	int error;
};

static void waiting_granted(struct vm_window_claim *claim, int error)
{
	struct waiting *waiting = vm_container_of(claim, struct waiting, claim);

	waiting->error = error;
	/* It is gone once its task runs. */
	vm_ult_wake(waiting->ult);
}

int vm_window_lock_wait(struct vm_window *window, bool exclusive)
{
	struct waiting waiting = {
		.claim = { .exclusive = exclusive, .granted = waiting_granted },
		.ult = vm_self,
	};

	if (!vm_window_claim(window, &waiting.claim))
		vm_wait_other(VM_EXPORT_WAIT);
	return waiting.error;
}

static struct vm_window_claim *claim_of(struct vm_list *link)
{
	return vm_container_of(link, struct vm_window_claim, link);
}

void vm_window_unlock(struct vm_window *window, bool exclusive)
{
	struct vm_list granted, *link;

	vm_list_init(&granted);
	vm_lock_take(&window->lock);
	if (exclusive)
		window->exclusive = false;
	else if (window->shared)
		window->shared--;
	while (!vm_list_empty(&window->claims)) {
		link = window->claims.next;
		if (!take(window, claim_of(link)->exclusive))
			break;
		vm_list_remove(link);
		vm_list_append(&granted, link);
	}
	vm_lock_give(&window->lock);
	while ((link = vm_list_pop(&granted)))
		claim_of(link)->granted(claim_of(link), 0);
}

void vm_window_claims_end(struct vm_window *window)
{
	struct vm_list *link;

	while ((link = vm_list_pop(&window->claims)))
		claim_of(link)->granted(claim_of(link), -VMPI_EPEER);
}
