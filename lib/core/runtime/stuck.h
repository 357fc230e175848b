/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers that block on pthread locks which tasks hold over a switch, and will
 * never run again: that is said, once.
 *
 * It happens in programs with a main of their own; in images the node program
 * has its own locks.
 */
#ifndef CORE_RUNTIME_STUCK_H
#define CORE_RUNTIME_STUCK_H

struct vm_node;

/* Looks from time to time, on the service thread, unless core_deadlock is off.
 * 0, or an error of the service. */
int vm_stuck_start(struct vm_node *node);
void vm_stuck_fini(struct vm_node *node);

#endif
