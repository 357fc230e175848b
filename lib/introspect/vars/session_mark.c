/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resetting a watermark without involving the code that counts.
 *
 * Its live mark is lowered to the current level, after its old value has been
 * stored in the bases of all other handles, and in the second block of its
 * owner, where all readers without a handle find it.
 */
#include "introspect/vars/session_handle.h"

static struct {
	struct vm_lock lock;
	struct vm_list handles; /* all marks; zeroed: not yet a list */
} marks;

static bool sees(const struct vm_handle *handle, unsigned i)
{
	return i >= handle->first && i - handle->first < handle->blocks;
}

/* Stores the old value of a live mark in the other handles that see it;
 * marks.lock. */
static void mark_keep(const struct vm_handle *handle, unsigned i, unsigned w,
		      uint64_t mark)
{
	struct vm_list *link;

	for (link = marks.handles.next; link != &marks.handles;
	     link = link->next) {
		struct vm_handle *other =
			vm_container_of(link, struct vm_handle, marks);
		unsigned e;

		if (other == handle || other->spot.row != handle->spot.row ||
		    !sees(other, i))
			continue;
		e = vm_cell_of(other, i - other->first, w);
		if (vm_beyond(vm_handle_low(other), mark, vm_base(other, e)))
			vm_base_set(other, e, mark);
	}
}

/* Pairs with the acquire load in is_alone(). */
static _Atomic bool *used_of(const struct vm_walk *walk)
{
	return (_Atomic bool *)((uintptr_t)walk->words + walk->place->used);
}

/* Under marks.lock. */
static void used_set(_Atomic bool *used)
{
	if (atomic_load_explicit(used, memory_order_relaxed))
		return;
	atomic_store_explicit(used, true, memory_order_release);
	vm_pvars_moved();
}

/*
 * Lowers one live mark to its level.  Its owner may write it meanwhile,
 * plainly: a greater value, which then either is kept or stays.
 */
static void mark_lower(const struct vm_handle *handle,
		       const struct vm_walk *walk, unsigned w)
{
	/* Readers need not know which thread writes the blocks. */
	uint64_t *word =
		(uint64_t *)(uintptr_t)walk->words + handle->spot.word + w;
	uint64_t *also =
		(uint64_t *)(uintptr_t)walk->also + handle->spot.word + w;
	bool low = vm_handle_low(handle);
	uint64_t level = handle->level == VM_LEVEL_NONE ?
				 0 :
				 vm_pvar_read(walk->words, handle->level + w);
	uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);

	while (vm_beyond(low, seen, level)) {
		mark_keep(handle, walk->at, w, seen);
		vm_pvar_raise(also, low, seen);
		if (walk->place->used)
			used_set(used_of(walk));
		if (__atomic_compare_exchange_n(word, &seen, level, true,
						__ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			return;
	}
}

void vm_mark_begin(struct vm_handle *handle, const uint64_t *values)
{
	struct vm_walk walk;

	vm_lock_take(&marks.lock);
	for (unsigned e = 0; e < handle->count; e++)
		vm_base_set(handle, e,
			    values		  ? values[e] :
			    vm_handle_low(handle) ? VM_PVAR_NONE :
						    0);
	for (vm_walk_begin(&walk, handle); vm_walk_on(&walk);) {
		for (unsigned w = 0; walk.also && w < handle->spot.row->words;
		     w++)
			mark_lower(handle, &walk, w);
	}
	vm_lock_give(&marks.lock);
}

void vm_mark_enlist(struct vm_handle *handle)
{
	vm_lock_take(&marks.lock);
	if (!marks.handles.next)
		vm_list_init(&marks.handles);
	vm_list_append(&marks.handles, &handle->marks);
	vm_lock_give(&marks.lock);
}

void vm_mark_delist(struct vm_handle *handle)
{
	vm_lock_take(&marks.lock);
	vm_list_remove(&handle->marks);
	vm_lock_give(&marks.lock);
}
