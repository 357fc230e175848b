/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The failure of one rank, whose process lives (vm_node->apart): it ends without
 * having done its part, and nobody waits for it any more.
 */
#ifndef CORE_COMM_FAIL_H
#define CORE_COMM_FAIL_H

/* The calling rank fails; all processes are told.  May switch. */
void vm_fail_self(void);

/* One of our ports hears that the rank with this number in the job has failed:
 * behind all messages from it.  vm_node->failed_take. */
void vm_fail_take(int index);

#endif
