/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access to a member's memory that the member itself begins and ends: it posts
 * to those who may, and waits until these have told it that they are done.
 */
#ifndef CORE_WINDOW_POST_H
#define CORE_WINDOW_POST_H

#include <stdbool.h>
#include <stddef.h>

struct vm_window;

/* Member `from` opens its memory to the one that `window` is the end of: 0 or
 * -VMPI_ENOMEM. */
int vm_window_post(struct vm_window *window, size_t from);

/* Waits until member `from` has posted to `window`, the caller's, and uses the
 * post up: 0 or -VMPI_EPEER.  May switch. */
int vm_window_post_wait(struct vm_window *window, size_t from);

/* Tells the member that `window` is the end of that one member is done. */
void vm_window_complete(struct vm_window *window);

/* Tells whether so many members have told the caller, whose `window` is, that
 * they are done; if so uses that up.  The second waits for it: 0 or -VMPI_EPEER;
 * it may switch. */
bool vm_window_complete_test(struct vm_window *window, size_t members);
int vm_window_complete_wait(struct vm_window *window, size_t members);

#endif
