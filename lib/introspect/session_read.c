/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading handles: loads, and no lock.
 */
#include "introspect/session_handle.h"

/* What values are before any block was seen. */
static void values_clear(const struct vm_handle *handle, uint64_t *values)
{
	for (unsigned e = 0; e < handle->count; e++)
		values[e] = vm_handle_low(handle) ? VM_PVAR_NONE : 0;
}

/* Adds the words of a block to values. */
static void block_fold(const struct vm_handle *handle, uint64_t *values,
		       const uint64_t *block, unsigned nth)
{
	const struct vm_pvar *row = handle->spot.row;

	for (unsigned w = 0; w < row->words; w++)
		vm_pvar_fold(&values[vm_cell_of(handle, nth, w)], row->class_,
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

void vm_running_read(struct vm_handle *handle, uint64_t *values)
{
	bool low = vm_handle_low(handle);

	if (handle->kind == VM_MARK)
		mark_read(handle, values);
	else
		vm_live_read(handle, values);
	/* A mark that is lowered has gone to the bases before. */
	atomic_thread_fence(memory_order_acquire);
	for (unsigned e = 0; e < handle->count; e++) {
		uint64_t base = vm_base(handle, e);

		if (handle->kind == VM_SINCE)
			values[e] = vm_since(values[e], base);
		else if (handle->kind == VM_MARK &&
			 vm_beyond(low, base, values[e]))
			values[e] = base;
		if (low && values[e] == VM_PVAR_NONE)
			values[e] = 0;
	}
}

void vm_handle_read(struct vm_handle *handle, uint64_t *values)
{
	/* Pairs with the release store of vm_handle_stop(). */
	if (atomic_load_explicit(&handle->stopped, memory_order_acquire))
		vm_frozen_read(handle, values);
	else
		vm_running_read(handle, values);
}
