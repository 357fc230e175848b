/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket of this process: variables are set while it runs, by
 * vmpitop(1) and vmpistat(1), if core_control (vmpirun --control) says so.
 *
 * It lies beside the shared-memory file, can be opened by its user only, and
 * the peer must be that user.  The service thread (core/service/thread.h)
 * answers, so ranks never wait for it, and it answers also when they hang.  The
 * requests are those of introspect/export/control.h.
 */
#ifndef CORE_SERVICE_CONTROL_H
#define CORE_SERVICE_CONTROL_H

/*
 * A client can do no harm: lines and answers are bounded, nothing is waited
 * for, and of many connections the one that was silent for longest is closed.
 */

struct vm_control;
struct vm_boot;
struct vm_node;

#define VM_CONTROL_CLIENTS_MAX 8

/* Opens it for the node, if core_control says so.  That it cannot be is logged,
 * and no reason not to run.  By the thread that starts the node, last. */
void vm_control_start(struct vm_node *node, const struct vm_boot *boot);

/* Before the service goes; again: nothing happens. */
void vm_control_stop(struct vm_node *node);

#endif
