/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading handles: loads, and no lock.
 */
#include "introspect/vars/session_handle.h"

#include <string.h>

#include "base/err.h"

/* Sets values to those before any block was seen. */
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
		if (handle->refresh)
			handle->refresh(handle->block);
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
 * Of a mark only the first block counts: the second one has earlier values, or
 * those of threads that have left.
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
		values[e] = atomic_load_explicit(vm_frozen_of(handle, e),
						 memory_order_relaxed);
}

/* Converts a live value to the handle's. */
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

/* Whether the blocks that a handle sees are of the place, and here. */
static bool is_sure(struct vm_handle *handle, const struct vm_pvar_place *place)
{
	if (handle->first >= place->count ||
	    (place->here && !place->here(handle->first)))
		return false;
	if (handle->blocks != 1 &&
	    (place->here || place->refresh || place->also))
		return false;
	atomic_store_explicit(&handle->sure, place, memory_order_relaxed);
	return true;
}

/* Whether there is nothing but the first block, and that is up to date. */
static inline bool is_alone(const struct vm_pvar_place *place,
			    const char *block)
{
	/* Pairs with the release store of the first to count elsewhere. */
	if (place->used)
		return !atomic_load_explicit(
			(const _Atomic bool *)(block + place->used),
			memory_order_acquire);
	return !place->also && !place->refresh;
}

/* How many words behind those of the first block the second one has its own,
 * when all is up to date; 0: nothing is to be read there. */
static inline size_t second_of(const struct vm_handle *handle,
			       const struct vm_pvar_place *place,
			       const char *block)
{
	/* Marks may change while they are read. */
	if (handle->adds && is_alone(place, block))
		return 0;
	if (place->refresh)
		place->refresh(handle->first);
	return handle->kind == VM_MARK ? 0 : place->also / sizeof(uint64_t);
}

/* A word, and that of the second block. */
static inline uint64_t word_read(const struct vm_handle *handle,
				 const uint64_t *words, unsigned w,
				 size_t second)
{
	uint64_t live = vm_pvar_read(words, w);

	/* A mark that is lowered is raised there before. */
	atomic_thread_fence(memory_order_acquire);
	if (second)
		value_fold(handle, &live,
			   vm_pvar_read(words, (unsigned)second + w));
	return live;
}

/* As block_read() of counters that have no second block. */
static inline void counters_read(const uint64_t *restrict words,
				 const _Atomic uint64_t *restrict bases,
				 size_t count, uint64_t *restrict values)
{
#pragma GCC unroll 4
	for (size_t w = 0; w < count; w++)
		values[w] = vm_since(
			__atomic_load_n(&words[w], __ATOMIC_RELAXED),
			atomic_load_explicit(&bases[w], memory_order_acquire));
}

/* The words of one block, to the values from e on. */
static inline void block_read(struct vm_handle *handle, const uint64_t *words,
			      size_t second, unsigned e, uint64_t *values)
{
	unsigned count = handle->words;

	if (handle->kind == VM_SINCE && !second) {
		counters_read(words, &handle->bases[e], count, &values[e]);
		return;
	}
	for (unsigned w = 0; w < count; w++, e++)
		values[e] = value_of(handle, e,
				     word_read(handle, words, w, second));
}

/* All words of one block, which has no second one, added. */
static uint64_t block_sum(const struct vm_handle *handle, const uint64_t *words)
{
	unsigned count = handle->words;
	uint64_t sum = 0;

#pragma GCC unroll 4
	for (unsigned w = 0; w < count; w++)
		sum += vm_pvar_read(words, w);
	return sum;
}

/* All words of all blocks together. */
static void total_read(struct vm_handle *handle, const uint64_t *words,
		       size_t second, unsigned blocks, size_t stride,
		       uint64_t *values)
{
	uint64_t sum = vm_handle_low(handle) ? VM_PVAR_NONE : 0;

	for (unsigned b = 0; b < blocks; b++) {
		if (handle->adds && !second)
			sum += block_sum(handle, words);
		else
			for (unsigned w = 0; w < handle->words; w++)
				value_fold(handle, &sum,
					   word_read(handle, words, w, second));
		words += stride / sizeof(*words);
	}
	values[0] = value_of(handle, 0, sum);
}

/* There are no blocks: of what would have many words, too, when a process has no
 * network. */
static void nothing_read(struct vm_handle *handle, uint64_t *values)
{
	if (!atomic_load_explicit(&handle->based, memory_order_relaxed)) {
		memset(values, 0, handle->count * sizeof(*values));
		return;
	}
	values_clear(handle, values);
	for (unsigned e = 0; e < handle->count; e++)
		values[e] = value_of(handle, e, values[e]);
}

/* The short path, for everything except sums of several ranks and blocks of
 * objects. False: the blocks are not here, or other ones than when the handle
 * was made. */
static bool straight_read(struct vm_handle *handle, uint64_t *values)
{
	const struct vm_pvar_place *place = vm_handle_place(handle);
	unsigned blocks;
	const char *block;
	const uint64_t *words;
	size_t second;

	if (!place) {
		nothing_read(handle, values);
		return true;
	}
	if (VM_UNLIKELY(place != atomic_load_explicit(&handle->sure,
						      memory_order_relaxed)) &&
	    !is_sure(handle, place))
		return false;
	block = place->base + handle->first * place->stride;
	words = (const uint64_t *)block + handle->spot.word;
	second = second_of(handle, place, block);
	blocks = place->count - handle->first;
	if (handle->blocks < blocks)
		blocks = handle->blocks;
	if (handle->total) {
		total_read(handle, words, second, blocks, place->stride,
			   values);
		return true;
	}
	if (VM_UNLIKELY(blocks * handle->words != handle->count))
		return false;
	for (unsigned e = 0; e < handle->count; e += handle->words) {
		block_read(handle, words, second, e, values);
		words += place->stride / sizeof(*words);
	}
	return true;
}

static __attribute__((noinline)) void read_any(struct vm_handle *handle,
					       uint64_t *values)
{
	/* Pairs with the release store of vm_handle_stop(). */
	if (VM_UNLIKELY(atomic_load_explicit(&handle->stopped,
					     memory_order_acquire)))
		vm_frozen_read(handle, values);
	else if (handle->block || handle->fold ||
		 !straight_read(handle, values))
		vm_running_read(handle, values);
}

/* Where the shortcut of a handle finds the value; NULL: it is not that simple. */
static const uint64_t *word_alone(const struct vm_handle *handle)
{
	static const uint64_t nothing;
	const struct vm_pvar_place *place = vm_handle_place(handle);
	const char *block;

	if (!place)
		return &nothing;
	if (handle->words > 1 ||
	    place !=
		    atomic_load_explicit(&handle->sure, memory_order_relaxed) ||
	    (handle->blocks > 1 && place->count - handle->first > 1))
		return NULL;
	block = place->base + handle->first * place->stride;
	return is_alone(place, block) ?
		       (const uint64_t *)block + handle->spot.word :
		       NULL;
}

/* Makes the shortcut right for what is where now, under the handle's lock. */
static void shortcut_set(const struct vm_handle *handle)
{
	struct vm_shortcut *shortcut = handle->shortcut;
	/* First: what is moved from now on makes it wrong. */
	uint64_t moves =
		atomic_load_explicit(&vm_pvar_moves, memory_order_acquire);
	const uint64_t *word = word_alone(handle);

	if (!word ||
	    atomic_load_explicit(&handle->stopped, memory_order_relaxed))
		return;
	atomic_store_explicit(&shortcut->word, word, memory_order_relaxed);
	/* Pairs with the acquire load of vm_shortcut_read(). */
	atomic_store_explicit(&shortcut->moves, moves, memory_order_release);
}

static __attribute__((noinline)) void shortcut_try(struct vm_handle *handle)
{
	/* In a signal handler the holder may be the interrupted code. */
	if (word_alone(handle) && vm_lock_try(&handle->lock)) {
		shortcut_set(handle);
		vm_lock_give(&handle->lock);
	}
}

void vm_handle_shorten(struct vm_handle *handle, struct vm_shortcut *shortcut)
{
	bool moves = handle->kind == VM_MARK && vm_handle_resets(handle);

	if (handle->count > 1 || handle->block || handle->low || moves)
		return;
	vm_lock_take(&handle->lock);
	atomic_store_explicit(&shortcut->base, vm_base(handle, 0),
			      memory_order_relaxed);
	handle->shortcut = shortcut;
	handle->shortened = true;
	vm_lock_give(&handle->lock);
}

void vm_handle_read(struct vm_handle *handle, uint64_t *values)
{
	const struct vm_pvar_place *place = vm_handle_place(handle);
	const char *block;
	uint64_t live;

	if (handle->shortened)
		shortcut_try(handle);
	/* Most are one word of one block that was there before. */
	if (VM_LIKELY(handle->simple && place &&
		      place == atomic_load_explicit(&handle->sure,
						    memory_order_relaxed) &&
		      !atomic_load_explicit(&handle->stopped,
					    memory_order_acquire))) {
		block = place->base + handle->first * place->stride;
		live = vm_pvar_read(block, handle->spot.word);
		/* A mark that is lowered is raised elsewhere before. */
		atomic_thread_fence(memory_order_acquire);
		if (VM_LIKELY(is_alone(place, block))) {
			values[0] = value_of(handle, 0, live);
			return;
		}
	}
	read_any(handle, values);
}
