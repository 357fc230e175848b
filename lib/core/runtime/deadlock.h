/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out that all ranks of the job wait, and nothing can wake them.
 */
#ifndef CORE_RUNTIME_DEADLOCK_H
#define CORE_RUNTIME_DEADLOCK_H

/*
 * It is looked at only when workers have nothing to do and go to sleep: then
 * the service thread looks twice, with a moment in between, whether the process
 * is quiet (quiet.h).  In a job of several processes each tells the first one,
 * the leader, that it is, with the numbers of packets it has sent and received.
 * When all have, and as many packets were received as sent, the leader asks all
 * once more: if each is quiet with the same numbers, nothing was under way when
 * it asked (Mattern's four counters), and the job is deadlocked.
 *
 * vmpirun is told, by a descriptor that its processes inherit, and reports it.
 * Without vmpirun the processes do.  What follows is up to core_deadlock.
 */

struct vm_node;

#define VM_DEADLOCK_EXIT 86

/* Steps of packets of kind QUIET. */
enum vm_deadlock_step {
	VM_DEADLOCK_QUIET, /* the sender is, with these numbers */
	VM_DEADLOCK_ASK,   /* is it still? */
	VM_DEADLOCK_STILL, /* it is, with these */
	VM_DEADLOCK_BUSY,  /* it is not */
	VM_DEADLOCK_FOUND, /* all are: report it */
};

/* The descriptor to vmpirun that VMPI_JOB_HANG describes as FD:INODE; 0: there
 * is none. */
int vm_deadlock_fd(const char *text);

/* Begins to look, unless core_deadlock is off: before the workers start.  0 or
 * -VMPI_ENOMEM. */
int vm_deadlock_start(struct vm_node *node);

/* When the workers have stopped, before the service goes; frees it, after the
 * fabric is closed. */
void vm_deadlock_stop(struct vm_node *node);
void vm_deadlock_fini(struct vm_node *node);

#endif
