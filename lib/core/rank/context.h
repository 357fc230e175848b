/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Context numbers of channels.
 *
 * Each process has a range of its own, so that a number taken anywhere is unique
 * in the job.  Numbers are not used again, since messages that nobody received
 * may still carry them, until a range of 2^31 divided by the number of
 * processes is used up.
 */
#ifndef CORE_RANK_CONTEXT_H
#define CORE_RANK_CONTEXT_H

#include <stdint.h>

struct vm_node;

/* Of the world. */
#define VM_CONTEXT_WORLD 0u

/* When the node knows which process it is. */
void vm_contexts_init(struct vm_node *node);

/* Two fresh context numbers, unique in this job; the even one. */
uint32_t vm_context_new(void);

/* Takes one back that no message has ever carried. */
void vm_context_return(uint32_t context);

#endif
