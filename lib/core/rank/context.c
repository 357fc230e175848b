/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The number of the process in the high bits, but for the highest one, a counter
 * in the others.  Unused numbers that are returned are kept in a small array, and
 * lost beyond it.
 */
#include "core/rank/context.h"

#include "core/rank/numbers.h"
#include "core/rank/state.h"

#define SHARED 0x80000000u
#define BLOCK 64u /* numbers of all jobs, taken at a time */

void vm_contexts_init(struct vm_node *node)
{
	unsigned bits = 0;

	while ((1 << bits) < node->process_count)
		bits++;
	node->contexts.mask = ~SHARED >> bits;
	node->contexts.base = bits ? (uint32_t)node->process << (31 - bits) : 0;
	/* The world and the job have the first of all. */
	atomic_init(&node->contexts.next, VM_CONTEXT_JOB + 2);
	vm_lock_init(&node->contexts.lock);
}

static uint32_t spare_take(void)
{
	uint32_t context = VM_CONTEXT_WORLD;

	vm_lock_take(&vm_node->contexts.lock);
	if (vm_node->contexts.spares)
		context = vm_node->contexts.spare[--vm_node->contexts.spares];
	vm_lock_give(&vm_node->contexts.lock);
	return context;
}

int vm_contexts_share(void)
{
	int rc = vm_numbers_open();

	if (!rc)
		atomic_store(&vm_node->contexts.shared, true);
	return rc;
}

static uint32_t shared_take(void)
{
	struct vm_contexts *contexts = &vm_node->contexts;
	uint32_t number;

	vm_lock_take(&contexts->lock);
	if (!contexts->left) {
		contexts->block = vm_numbers_take(BLOCK);
		contexts->left = BLOCK;
	}
	number = contexts->block++;
	contexts->left--;
	vm_lock_give(&contexts->lock);
	return SHARED | number << 1;
}

uint32_t vm_context_new(void)
{
	uint32_t context = VM_CONTEXT_WORLD;

	if (atomic_load_explicit(&vm_node->contexts.shared,
				 memory_order_relaxed))
		return shared_take();
	if (vm_node->process_count > 1)
		context = spare_take();
	if (context == VM_CONTEXT_WORLD)
		context = atomic_fetch_add_explicit(&vm_node->contexts.next, 2,
						    memory_order_relaxed);
	return vm_node->contexts.base | (context & vm_node->contexts.mask);
}

void vm_context_return(uint32_t context)
{
	if (context & SHARED)
		return;
	vm_lock_take(&vm_node->contexts.lock);
	if (vm_node->contexts.spares < VM_CONTEXT_SPARES)
		vm_node->contexts.spare[vm_node->contexts.spares++] = context;
	vm_lock_give(&vm_node->contexts.lock);
}
