/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Context numbers of channels.
 *
 * Each process has a range of its own, so that a number taken anywhere is
 * unique in the job.  Numbers are not used again, since messages that nobody
 * received may still carry them, until a range of 2^31 divided by the number of
 * processes is used up.
 */
#ifndef CORE_RANK_CONTEXT_H
#define CORE_RANK_CONTEXT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/lock.h"

struct vm_node;

#define VM_CONTEXT_SPARES 1024

/* Part of vm_node. */
struct vm_contexts {
	_Atomic uint32_t next;
	uint32_t base, mask; /* the process; the bits of the counter */
	struct vm_lock lock; /* guards those taken and never used: */
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

/* Takes one back that no message has ever carried. */
void vm_context_return(uint32_t context);

#endif
