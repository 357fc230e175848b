/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access to a member's memory that the member itself begins and ends: it posts
 * to those who may, and waits until these have told it that they are done.
 *
 * Each member has a row of words, in which those who post to it count, and one
 * word for all who are done.  Who changes one needs no lock, and where processes
 * share them no packet, unless the member sleeps.
 */
#ifndef CORE_WINDOW_POST_H
#define CORE_WINDOW_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/window/window.h"

struct vmpi_chan;

/* The row of a member here, which is made if there is none; NULL: no memory. */
_Atomic uint32_t *vm_window_posts(struct vm_window *window);

/*
 * Member `from` opens its memory to the one of this place, which is here or has
 * `posts`: 0, VM_PENDING: its process has to be told by a packet, since it
 * sleeps, or -VMPI_ENOMEM.
 */
int vm_window_post(const struct vm_window_place *place, size_t from);

/*
 * Waits until member `from` has posted to `window`, the caller's, and uses the
 * post up: 0, -VMPI_ENOMEM or -VMPI_EPEER.  chan: the caller waits for all its
 * members, as others see it; or NULL.  May switch.
 */
int vm_window_post_wait(struct vm_window *window, size_t from,
			const struct vmpi_chan *chan);

/* Tells the member of this place, which is here or has `words`, that one member
 * is done: 0 or VM_PENDING, as above. */
int vm_window_complete(const struct vm_window_place *place);

/* Tells whether so many members have told the caller, whose `window` is, that
 * they are done; if so uses that up.  The second waits for it: 0 or -VMPI_EPEER;
 * it may switch. */
bool vm_window_complete_test(struct vm_window *window, size_t members);
int vm_window_complete_wait(struct vm_window *window, size_t members);

#endif
