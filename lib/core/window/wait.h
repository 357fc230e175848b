/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting at a window for what others bring about.
 */
#ifndef CORE_WINDOW_WAIT_H
#define CORE_WINDOW_WAIT_H

#include <stdbool.h>

struct vm_window;

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

/* A process with a member is gone: all waits end, also those of later. */
void vm_window_lose(struct vm_window *window);

#endif
