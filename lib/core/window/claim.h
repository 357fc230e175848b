/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of a member's memory: shared by any number of tasks, or exclusive.
 *
 * Claims are granted in the order in which they come, so that none starves.
 */
#ifndef CORE_WINDOW_CLAIM_H
#define CORE_WINDOW_CLAIM_H

#include <stdbool.h>

#include "base/list.h"

struct vm_window;

/* Who wants a lock; the caller's until it is granted. */
struct vm_window_claim {
	struct vm_list link;
	bool exclusive;
	/* Called by whoever makes it possible, which may be a poller, or with
	 * -VMPI_EPEER, under the window's lock, when a process with a member is
	 * gone. */
	void (*granted)(struct vm_window_claim *claim, int error);
};

/* Claims the lock of the member that `window` is the end of; true: it is taken
 * already, and nothing is called. */
bool vm_window_claim(struct vm_window *window, struct vm_window_claim *claim);

/* The same for the calling task, which waits for it: 0 or -VMPI_EPEER.  May
 * switch. */
int vm_window_lock_wait(struct vm_window *window, bool exclusive);

/* Gives such a lock back. */
void vm_window_unlock(struct vm_window *window, bool exclusive);

/* Ends all claims; the window's lock is held. */
void vm_window_claims_end(struct vm_window *window);

#endif
