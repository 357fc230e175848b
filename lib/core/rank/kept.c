/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call takes the block that is kept, if no other one has it.  What has no room
 * there is allocated, and at the end a block with room for all of it is kept
 * instead.
 */
#include "core/rank/kept.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#define LINE 64
#define KEPT_MOST ((size_t)4 << 20) /* bytes; beyond, pages are little of it */

struct vm_kept_block {
	struct vm_kept_block *next;
	size_t bytes;
	_Alignas(LINE) char memory[];
};

static _Atomic(struct vm_kept_block *) spare;

static struct vm_kept_block *block_new(size_t bytes)
{
	struct vm_kept_block *block =
		aligned_alloc(LINE, sizeof(*block) + bytes);

	if (!block)
		return NULL;
	block->next = NULL;
	block->bytes = bytes;
	return block;
}

void *vm_kept_get(struct vm_kept *kept, size_t bytes)
{
	struct vm_kept_block *block;

	/* A size received from another process may be arbitrary. */
	if (bytes > SIZE_MAX / 4)
		return NULL;
	bytes = (bytes + LINE - 1) & ~(size_t)(LINE - 1);
	if (!kept->first)
		kept->first = atomic_exchange_explicit(&spare, NULL,
						       memory_order_acquire);
	kept->wanted += bytes;
	block = kept->first;
	if (block && block->bytes - kept->used >= bytes) {
		kept->used += bytes;
		return block->memory + kept->used - bytes;
	}
	block = block_new(bytes);
	if (!block)
		return NULL;
	if (kept->first) {
		block->next = kept->first->next;
		kept->first->next = block;
	} else {
		kept->first = block;
		kept->used = bytes;
	}
	return block->memory;
}

static void blocks_free(struct vm_kept_block *block)
{
	struct vm_kept_block *next;

	for (; block; block = next) {
		next = block->next;
		free(block);
	}
}

void vm_kept_end(struct vm_kept *kept)
{
	struct vm_kept_block *block = kept->first;

	if (!block)
		return;
	if (kept->wanted > block->bytes && kept->wanted <= KEPT_MOST) {
		blocks_free(block);
		block = block_new(kept->wanted);
	} else {
		blocks_free(block->next);
		block->next = NULL;
	}
	*kept = (struct vm_kept){ 0 };
	if (block && block->bytes > KEPT_MOST) {
		free(block);
		return;
	}
	/* Pairs with the exchange in vm_kept_get(). */
	if (block)
		free(atomic_exchange_explicit(&spare, block,
					      memory_order_acq_rel));
}

void vm_kept_drop(void)
{
	free(atomic_exchange_explicit(&spare, NULL, memory_order_acquire));
}
