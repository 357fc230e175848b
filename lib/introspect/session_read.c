/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading handles: loads, and no lock.
 */
#include "introspect/session_handle.h"

#include "base/err.h"

/* What values are before any block was seen. */
static void values_clear(const struct vm_handle *handle, uint64_t *values)
{
	for (unsigned e = 0; e < handle->count; e++)
		values[e] = vm_handle_low(handle) ? VM_PVAR_NONE : 0;
}

/* Adds value to *sum. */
static void value_fold(const struct vm_handle *handle, uint64_t *sum,
		       uint64_t value)
{
	if (VM_LIKELY(handle->adds))
		*sum += value;
	else
		vm_pvar_fold(sum, handle->spot.row->class_, value);
}

/* Adds the words of a block to values. */
static void block_fold(const struct vm_handle *handle, uint64_t *values,
		       const uint64_t *block, unsigned nth)
{
	for (unsigned w = 0; w < handle->words; w++)
		value_fold(handle, &values[vm_cell_of(handle, nth, w)],
			   vm_pvar_read(block, handle->spot.word + w));
}

void vm_live_read(const struct vm_handle *handle, uint64_t *values)
{
	struct vm_walk walk;

	values_clear(handle, values);
	if (handle->block) {
		block_fold(handle, values, handle->block, 0);
		return;
	}
	for (vm_walk_begin(&walk, handle); vm_walk_on(&walk);) {
		if (walk.place->refresh)
			walk.place->refresh(walk.at);
		block_fold(handle, values, walk.words, walk.at - handle->first);
		/* A mark that is lowered is raised there before. */
		atomic_thread_fence(memory_order_acquire);
		if (walk.also)
			block_fold(handle, values, walk.also,
				   walk.at - handle->first);
	}
}

/*
 * Of a mark only the first block counts: what the second one has was before, or
 * is of threads that have left.
 */
static void mark_read(const struct vm_handle *handle, uint64_t *values)
{
	struct vm_walk walk;

	values_clear(handle, values);
	for (vm_walk_begin(&walk, handle); vm_walk_on(&walk);) {
		if (walk.place->refresh)
			walk.place->refresh(walk.at);
		block_fold(handle, values, walk.words, walk.at - handle->first);
	}
}

void vm_frozen_read(const struct vm_handle *handle, uint64_t *values)
{
	for (unsigned e = 0; e < handle->count; e++)
		values[e] = atomic_load_explicit(&handle->cells[e].frozen,
						 memory_order_relaxed);
}

/* What a handle makes of a live value. */
static uint64_t value_of(struct vm_handle *handle, unsigned e, uint64_t live)
{
	uint64_t base = vm_base(handle, e);

	if (handle->kind == VM_SINCE)
		return vm_since(live, base);
	if (handle->kind == VM_MARK && vm_beyond(handle->low, base, live))
		live = base;
	return handle->low && live == VM_PVAR_NONE ? 0 : live;
}

void vm_running_read(struct vm_handle *handle, uint64_t *values)
{
	if (handle->kind == VM_MARK)
		mark_read(handle, values);
	else
		vm_live_read(handle, values);
	/* A mark that is lowered has gone to the bases before. */
	atomic_thread_fence(memory_order_acquire);
	for (unsigned e = 0; e < handle->count; e++)
		values[e] = value_of(handle, e, values[e]);
}

/* The block of a handle that sees one, or NULL: it is not here. */
static const uint64_t *plain_block(struct vm_handle *handle,
				   const struct vm_pvar_place *place)
{
	unsigned i = handle->first;

	if (!place || i >= place->count)
		return NULL;
	if (place !=
	    atomic_load_explicit(&handle->sure, memory_order_relaxed)) {
		if (place->here && !place->here(i))
			return NULL;
		atomic_store_explicit(&handle->sure, place,
				      memory_order_relaxed);
	}
	if (place->refresh)
		place->refresh(i);
	return (const uint64_t *)(place->base + i * place->stride) +
	       handle->spot.word;
}

/* The short way for most handles: false if their block is not here. */
static bool plain_read(struct vm_handle *handle, uint64_t *values)
{
	const struct vm_pvar_place *place = vm_handle_place(handle);
	const uint64_t *block = plain_block(handle, place);
	const uint64_t *also;

	if (!block)
		return false;
	also = place->also && handle->kind != VM_MARK ?
		       block + place->also / sizeof(*block) :
		       NULL;
	for (unsigned w = 0; w < handle->words; w++) {
		uint64_t live = vm_pvar_read(block, w);

		atomic_thread_fence(memory_order_acquire);
		if (also)
			value_fold(handle, &live, vm_pvar_read(also, w));
		values[w] = value_of(handle, w, live);
	}
	return true;
}

void vm_handle_read(struct vm_handle *handle, uint64_t *values)
{
	/* Pairs with the release store of vm_handle_stop(). */
	if (VM_UNLIKELY(atomic_load_explicit(&handle->stopped,
					     memory_order_acquire)))
		vm_frozen_read(handle, values);
	else if (!handle->plain || !plain_read(handle, values))
		vm_running_read(handle, values);
}
