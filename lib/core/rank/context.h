/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Context numbers of channels.
 *
 * Each process has a range of its own, so that a number taken anywhere is
 * unique in the job.  Numbers are not used again, since messages that nobody
 * received may still carry them, until a range of 2^30 divided by the number of
 * processes is used up.
 */
#ifndef CORE_RANK_CONTEXT_H
#define CORE_RANK_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"

struct vm_node;

/*
 * A process that knows processes of other jobs takes numbers that are unique
 * among all jobs of its user on this host (core/rank/numbers.h): the upper half
 * of all, of which 2^30 are given before one is given again.
 */

#define VM_CONTEXT_SPARES 1024

/* Part of vm_node. */
struct vm_contexts {
	_Atomic uint32_t next;
	uint32_t base, mask;  /* the process; the bits of the counter */
	_Atomic bool shared;  /* all jobs take them from one place, */
	uint32_t block, left; /* so many at a time; under the lock */
	struct vm_lock lock;  /* guards those taken and never used: */
	unsigned spares;
	uint32_t spare[VM_CONTEXT_SPARES];
};

/* The context of the world, and that of messages between any two ranks of the
 * job: their source is the sender's number in the job. */
#define VM_CONTEXT_WORLD 0u
#define VM_CONTEXT_JOB 2u

/* Sets the range, when the node knows its number. */
void vm_contexts_init(struct vm_node *node);

/* Two fresh context numbers, unique in this job; the even one. */
uint32_t vm_context_new(void);

/* From now on numbers are taken that are unique among all jobs: 0, or -VMPI_EIO
 * (logged). */
int vm_contexts_share(void);

/* Takes one back that no message has ever carried. */
void vm_context_return(uint32_t context);

#endif
