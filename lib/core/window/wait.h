/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting at a window for what others bring about: for what changes under its
 * lock, or for a word that others change without it.
 */
#ifndef CORE_WINDOW_WAIT_H
#define CORE_WINDOW_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/window/window.h"

struct vmpi_chan;

/*
 * Waits until come(arg) is true; it is called under the window's lock, at once
 * and after each vm_window_wake().  0, or -VMPI_EPEER: a process with a member
 * is gone.  May switch.
 */
int vm_window_wait(struct vm_window *window, bool (*come)(void *arg),
		   void *arg);

/* Lets those who wait look again, and gives the window's lock back, which the
 * caller has. */
void vm_window_wake(struct vm_window *window);

/* Whether a word that only grows is at `wanted`, or beyond. */
static inline bool vm_window_has_come(const _Atomic uint32_t *word,
				      uint32_t wanted)
{
	/* Pairs with the addition by whoever it is waited for. */
	return (int32_t)(atomic_load_explicit(word, memory_order_acquire) -
			 wanted) >= 0;
}

/*
 * Waits until a word that others change, before they call vm_window_told() for
 * this end, has come to `wanted`: 0 or -VMPI_EPEER.  chan: the caller waits for
 * all its members, as others see it; or NULL.  May switch.
 */
int vm_window_await(struct vm_window *window, const _Atomic uint32_t *word,
		    uint32_t wanted, const struct vmpi_chan *chan);

/* Polls for a while, if the caller can afford to, until a word has come to
 * `wanted`, which no one is told of: whether it has. */
bool vm_window_watch(const _Atomic uint32_t *word, uint32_t wanted);

/* A member's word has been changed, by a sequentially consistent operation: it
 * is woken if it sleeps here; VM_PENDING: it sleeps in another process. */
int vm_window_told(const struct vm_window_place *place);

/* A process with a member is gone: all waits end, also those of later. */
void vm_window_lose(struct vm_window *window);

#endif
