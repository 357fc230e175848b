/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of a member's memory: shared by any number of tasks, or exclusive.
 *
 * Claims are granted in the order in which they come, so that none starves.
 */
#ifndef CORE_WINDOW_CLAIM_H
#define CORE_WINDOW_CLAIM_H

#include <stdbool.h>

struct vm_window;

/* Locks the memory of the member that `window` is the end of, as soon as others
 * let it.  May switch. */
void vm_window_lock_wait(struct vm_window *window, bool exclusive);

/* Gives such a lock back. */
void vm_window_unlock(struct vm_window *window, bool exclusive);

#endif
