/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Claims to locks, granted in order.
 */
#include "core/window/claim.h"

#include "core/rank/wait.h"
#include "core/window/window.h"

static struct vm_window_claim *claim_of(struct vm_list *link)
{
	return vm_container_of(link, struct vm_window_claim, link);
}

/* Moves the claims that have the lock now to a list; under the window's lock. */
static void claims_take(struct vm_window *window, struct vm_list *granted)
{
	struct vm_list *link;

	while (!vm_list_empty(&window->claims)) {
		link = window->claims.next;
		if (!vm_window_lock_try(&window->words->locks,
					claim_of(link)->exclusive, true))
			return;
		vm_list_remove(link);
		vm_list_append(granted, link);
	}
	atomic_fetch_and_explicit(&window->words->locks, ~VM_WINDOW_AWAITED,
				  memory_order_relaxed);
}

/* Tells all but one that they have it. */
static bool claims_granted(struct vm_list *granted, struct vm_window_claim *own)
{
	struct vm_list *link;
	bool mine = false;

	while ((link = vm_list_pop(granted))) {
		if (claim_of(link) == own)
			mine = true;
		else
			claim_of(link)->granted(claim_of(link), 0);
	}
	return mine;
}

bool vm_window_claim(struct vm_window *window, struct vm_window_claim *claim)
{
	struct vm_list granted;

	vm_list_init(&granted);
	vm_lock_take(&window->lock);
	vm_list_append(&window->claims, &claim->link);
	/* Who gives the lock back from now on lets us look; who did so before
	 * is seen here. */
	atomic_fetch_or_explicit(&window->words->locks, VM_WINDOW_AWAITED,
				 memory_order_relaxed);
	claims_take(window, &granted);
	if (window->lost)
		vm_window_claims_end(window);
	vm_lock_give(&window->lock);
	return claims_granted(&granted, claim);
}

void vm_window_grant(struct vm_window *window)
{
	struct vm_list granted;

	vm_list_init(&granted);
	vm_lock_take(&window->lock);
	claims_take(window, &granted);
	vm_lock_give(&window->lock);
	claims_granted(&granted, NULL);
}

void vm_window_unlock(struct vm_window *window, bool exclusive)
{
	if (vm_window_lock_give(&window->words->locks, exclusive))
		vm_window_grant(window);
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

	if (!vm_window_lock_try(&window->words->locks, exclusive, false) &&
	    !vm_window_claim(window, &waiting.claim))
		vm_wait_other(VM_EXPORT_WAIT);
	return waiting.error;
}

void vm_window_claims_end(struct vm_window *window)
{
	struct vm_list *link;

	while ((link = vm_list_pop(&window->claims)))
		claim_of(link)->granted(claim_of(link), -VMPI_EPEER);
}
