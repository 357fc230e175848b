/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The number of the process in the high bits, a counter in the others.  Numbers
 * that were taken for nothing are kept in a small array, and lost beyond it.
 */
#include "core/rank/context.h"

#include "core/runtime/node.h"

void vm_contexts_init(struct vm_node *node)
{
	unsigned bits = 0;

	while ((1 << bits) < node->process_count)
		bits++;
	node->context_mask = UINT32_MAX >> bits;
	node->context_base = bits ? (uint32_t)node->process << (32 - bits) : 0;
	/* The world has the first of all. */
	atomic_init(&node->context_next, 2);
	vm_lock_init(&node->context_lock);
}

static uint32_t spare_take(void)
{
	uint32_t context = VM_CONTEXT_WORLD;

	vm_lock_take(&vm_node->context_lock);
	if (vm_node->context_spares)
		context = vm_node->context_spare[--vm_node->context_spares];
	vm_lock_give(&vm_node->context_lock);
	return context;
}

uint32_t vm_context_new(void)
{
	uint32_t context = VM_CONTEXT_WORLD;

	if (vm_node->process_count > 1)
		context = spare_take();
	if (context == VM_CONTEXT_WORLD)
		context = atomic_fetch_add_explicit(&vm_node->context_next, 2,
						    memory_order_relaxed);
	return vm_node->context_base | (context & vm_node->context_mask);
}

void vm_context_return(uint32_t context)
{
	vm_lock_take(&vm_node->context_lock);
	if (vm_node->context_spares < VM_CONTEXT_SPARES)
		vm_node->context_spare[vm_node->context_spares++] = context;
	vm_lock_give(&vm_node->context_lock);
}
