/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heartbeat: a thread that asks periodically whether each other process is
 * still there, in jobs whose launcher does not report deaths.
 */
#ifndef CORE_REMOTE_HEARTBEAT_H
#define CORE_REMOTE_HEARTBEAT_H

struct vm_boot;
struct vm_fabric;
struct vm_heartbeat;

/*
 * Starts, if this job needs it: else *heartbeat is NULL.  All processes are
 * connected.  0, -VMPI_ENOMEM, -VMPI_ELIMIT (no thread; logged).
 */
int vm_heartbeat_start(struct vm_heartbeat **heartbeat,
		       const struct vm_boot *boot, struct vm_fabric *fabric);

/* Before the fabric closes.  NULL is allowed. */
void vm_heartbeat_stop(struct vm_heartbeat *heartbeat);

#endif
