/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions and their handles: made, moved, freed.
 */
#include "introspect/vars/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "introspect/vars/session_handle.h"

static enum vm_handle_kind kind_of(enum vm_pvar_class class_)
{
	switch (class_) {
	case VM_PVAR_COUNTER:
	case VM_PVAR_TIMER:
	case VM_PVAR_AGGREGATE:
		return VM_SINCE;
	case VM_PVAR_HIGHWATERMARK:
	case VM_PVAR_LOWWATERMARK:
		return VM_MARK;
	default:
		return VM_AS_IS;
	}
}

/* Whether it is the level that a mark is the extreme of: kept or kept_len of
 * kept_max, whose first `length` letters are "kept". */
static bool is_level(const struct vm_pvar *row, const char *mark, size_t length)
{
	if (strncmp(row->field, mark, length) != 0)
		return false;
	return strcspn(row->field, "[") == length ||
	       strcmp(row->field + length, "_len") == 0;
}

/* The word of that level. */
static unsigned level_of(const struct vm_pvar_spot *spot)
{
	const struct vm_pvar_table *table = spot->table;
	const char *tail = strrchr(spot->row->field, '_');
	unsigned word = 0;

	for (unsigned i = 0; tail && i < table->count; i++) {
		const struct vm_pvar *row = &table->rows[i];
		size_t length = (size_t)(tail - spot->row->field);

		if (row->class_ == VM_PVAR_LEVEL &&
		    row->words == spot->row->words &&
		    is_level(row, spot->row->field, length))
			return word;
		word += row->words;
	}
	return VM_LEVEL_NONE;
}

/* Whether a watermark can be reset: its block has a second one, and its current
 * level is known, or is at least 0. */
static bool mark_resets(const struct vm_pvar_spot *spot, unsigned level)
{
	return spot->row->of == VM_PVAR_RANK &&
	       (spot->row->class_ == VM_PVAR_HIGHWATERMARK ||
		level != VM_LEVEL_NONE);
}

bool vm_pvar_resets(int number)
{
	struct vm_pvar_spot spot;
	enum vm_handle_kind kind;

	if (!vm_pvar_spot(&spot, number))
		return false;
	kind = kind_of(spot.row->class_);
	return kind == VM_SINCE ||
	       (kind == VM_MARK && mark_resets(&spot, level_of(&spot)));
}

bool vm_handle_resets(const struct vm_handle *handle)
{
	return handle->kind == VM_SINCE ||
	       (handle->kind == VM_MARK && !handle->block &&
		mark_resets(&handle->spot, handle->level));
}

/* Under the handle's lock, like all that follows up to the public functions. */
static void begin(struct vm_handle *handle, const uint64_t *values)
{
	if (handle->kind == VM_MARK) {
		vm_mark_begin(handle, values);
		return;
	}
	vm_live_read(handle, handle->scratch);
	for (unsigned e = 0; e < handle->count; e++)
		vm_base_set(handle, e,
			    handle->scratch[e] - (values ? values[e] : 0));
}

static void frozen_set(struct vm_handle *handle, const uint64_t *values)
{
	for (unsigned e = 0; e < handle->count; e++)
		atomic_store_explicit(vm_frozen_of(handle, e),
				      values ? values[e] : 0,
				      memory_order_relaxed);
}

static bool is_stopped(const struct vm_handle *handle)
{
	return atomic_load_explicit(&handle->stopped, memory_order_relaxed);
}

int vm_handle_write(struct vm_handle *handle, const uint64_t *values)
{
	if (!vm_handle_resets(handle))
		return -VMPI_ENOTSUP;
	vm_lock_take(&handle->lock);
	if (is_stopped(handle))
		frozen_set(handle, values);
	else
		begin(handle, values);
	vm_lock_give(&handle->lock);
	return 0;
}

int vm_handle_reset(struct vm_handle *handle)
{
	return vm_handle_write(handle, NULL);
}

int vm_handle_readreset(struct vm_handle *handle, uint64_t *values)
{
	if (handle->kind != VM_SINCE)
		return -VMPI_ENOTSUP;
	vm_lock_take(&handle->lock);
	if (is_stopped(handle)) {
		vm_frozen_read(handle, values);
		frozen_set(handle, NULL);
	} else {
		vm_live_read(handle, handle->scratch);
		for (unsigned e = 0; e < handle->count; e++) {
			values[e] = vm_since(handle->scratch[e],
					     vm_base(handle, e));
			vm_base_set(handle, e, handle->scratch[e]);
		}
	}
	vm_lock_give(&handle->lock);
	return 0;
}

void vm_handle_stop(struct vm_handle *handle)
{
	vm_lock_take(&handle->lock);
	if (!is_stopped(handle)) {
		vm_running_read(handle, handle->scratch);
		frozen_set(handle, handle->scratch);
		atomic_store_explicit(&handle->stopped, true,
				      memory_order_release);
		if (handle->shortened)
			atomic_store_explicit(&handle->shortcut->moves, 0,
					      memory_order_relaxed);
	}
	vm_lock_give(&handle->lock);
}

/* Continues from the values at which it stopped. */
static void resume(struct vm_handle *handle)
{
	if (handle->kind == VM_SINCE) {
		vm_live_read(handle, handle->scratch);
		for (unsigned e = 0; e < handle->count; e++)
			vm_base_set(handle, e,
				    handle->scratch[e] -
					    atomic_load_explicit(
						    vm_frozen_of(handle, e),
						    memory_order_relaxed));
	} else if (vm_handle_resets(handle)) {
		vm_frozen_read(handle, handle->scratch);
		vm_mark_begin(handle, handle->scratch);
	}
}

void vm_handle_start(struct vm_handle *handle)
{
	vm_lock_take(&handle->lock);
	if (is_stopped(handle)) {
		resume(handle);
		atomic_store_explicit(&handle->stopped, false,
				      memory_order_release);
	}
	vm_lock_give(&handle->lock);
}

unsigned vm_handle_count(const struct vm_handle *handle)
{
	return handle->count;
}

/* Determines the blocks that a handle sees, and how their words are
 * combined. */
static void handle_aim(struct vm_handle *handle,
		       const struct vm_handle_want *want, int rank)
{
	const struct vm_pvar *row = handle->spot.row;
	const struct vm_pvar_place *place = vm_handle_place(handle);
	unsigned there = place ? place->count : 0;

	handle->block = want->block;
	handle->refresh = want->refresh;
	handle->total = want->total;
	handle->kind = (unsigned char)kind_of(row->class_);
	if (want->absolute || (want->block && handle->kind == VM_MARK))
		handle->kind = VM_AS_IS;
	handle->low = row->class_ == VM_PVAR_LOWWATERMARK;
	handle->adds = handle->kind == VM_SINCE ||
		       row->class_ == VM_PVAR_LEVEL ||
		       row->class_ == VM_PVAR_SIZE;
	handle->blocks = 1;
	handle->words = (unsigned short)row->words;
	handle->count = row->words;
	if (row->of == VM_PVAR_RANK && rank >= 0) {
		handle->first = (unsigned)rank;
	} else if (row->of == VM_PVAR_RANK) {
		handle->fold = true;
		handle->blocks = UINT_MAX;
	} else if (row->of == VM_PVAR_WORKER && want->total) {
		handle->blocks = UINT_MAX;
	} else if (row->of == VM_PVAR_WORKER && there) {
		handle->blocks = there;
		handle->count = there * row->words;
	}
	if (want->total)
		handle->count = 1;
	handle->simple = handle->blocks == 1 && handle->count == 1 &&
			 handle->words == 1 && !want->block;
	handle->level = handle->kind == VM_MARK ? level_of(&handle->spot) :
						  VM_LEVEL_NONE;
}

static struct vm_handle *handle_make(const struct vm_handle *like)
{
	size_t bytes = sizeof(*like) + 2 * like->count * sizeof(*like->bases);
	size_t all = bytes + like->count * sizeof(uint64_t);
	struct vm_handle *handle = aligned_alloc(
		VM_CACHELINE, (all + VM_CACHELINE - 1) & -(size_t)VM_CACHELINE);

	if (!handle)
		return NULL;
	memset(handle, 0, all);
	memcpy(handle, like, sizeof(*like));
	handle->scratch = (uint64_t *)(void *)((char *)handle + bytes);
	for (unsigned e = 0; e < handle->count; e++)
		vm_base_set(handle, e,
			    vm_handle_low(handle) ? VM_PVAR_NONE : 0);
	return handle;
}

static void session_append(struct vm_session *session, struct vm_handle *handle)
{
	_Atomic(struct vm_handle *) *last = &session->first;
	struct vm_handle *at;

	vm_lock_take(&session->lock);
	while ((at = atomic_load_explicit(last, memory_order_relaxed)))
		last = &at->next;
	atomic_store_explicit(last, handle, memory_order_release);
	atomic_fetch_add_explicit(&session->words, handle->count,
				  memory_order_relaxed);
	vm_lock_give(&session->lock);
}

/* Whether more than one block makes its values. */
static bool adds_up(const struct vm_handle *handle)
{
	struct vm_walk walk;
	unsigned blocks = 0;

	vm_walk_begin(&walk, handle);
	while (handle->fold && vm_walk_on(&walk))
		blocks++;
	return handle->total || blocks > 1;
}

int vm_handle_new(struct vm_handle **handle, struct vm_session *session,
		  const struct vm_handle_want *want)
{
	struct vm_handle like = { .session = session };
	struct vm_handle *made;

	if (!vm_pvar_spot(&like.spot, want->number))
		return -VMPI_ENOENT;
	if (like.spot.row->of == VM_PVAR_CHAN && !want->block)
		return -VMPI_EINVAL;
	handle_aim(&like, want, session->rank);
	if (like.spot.row->class_ == VM_PVAR_STATE && adds_up(&like))
		return -VMPI_ENOTSUP;
	made = handle_make(&like);
	if (!made)
		return -VMPI_ENOMEM;
	if (made->kind == VM_MARK)
		vm_mark_enlist(made);
	if (vm_handle_resets(made))
		begin(made, NULL);
	session_append(session, made);
	*handle = made;
	return 0;
}

static void handle_end(struct vm_handle *handle)
{
	if (handle->kind == VM_MARK)
		vm_mark_delist(handle);
	free(handle);
}

void vm_handle_free(struct vm_handle *handle)
{
	struct vm_session *session = handle->session;
	_Atomic(struct vm_handle *) *link = &session->first;
	struct vm_handle *at;

	vm_lock_take(&session->lock);
	while ((at = atomic_load_explicit(link, memory_order_relaxed)) !=
	       handle) {
		VM_ASSERT(at);
		link = &at->next;
	}
	atomic_store_explicit(
		link, atomic_load_explicit(&handle->next, memory_order_relaxed),
		memory_order_release);
	atomic_fetch_sub_explicit(&session->words, handle->count,
				  memory_order_relaxed);
	vm_lock_give(&session->lock);
	handle_end(handle);
}

/*
 * Sessions
 */

int vm_session_new(struct vm_session **session, int rank)
{
	struct vm_session *made = calloc(1, sizeof(*made));

	if (!made)
		return -VMPI_ENOMEM;
	made->rank = rank;
	vm_lock_init(&made->lock);
	*session = made;
	return 0;
}

static struct vm_handle *session_next(const _Atomic(struct vm_handle *) *link)
{
	return atomic_load_explicit(link, memory_order_acquire);
}

void vm_session_free(struct vm_session *session)
{
	struct vm_handle *handle = session_next(&session->first);

	while (handle) {
		struct vm_handle *next = session_next(&handle->next);

		handle_end(handle);
		handle = next;
	}
	free(session);
}

unsigned vm_session_words(const struct vm_session *session)
{
	return atomic_load_explicit(&session->words, memory_order_relaxed);
}

unsigned vm_session_read(struct vm_session *session, uint64_t *values,
			 unsigned words)
{
	struct vm_handle *handle = session_next(&session->first);
	unsigned done = 0;

	while (handle && handle->count <= words - done) {
		vm_handle_read(handle, values + done);
		done += handle->count;
		handle = session_next(&handle->next);
	}
	return done;
}

int vm_session_each(struct vm_session *session,
		    int (*each)(struct vm_handle *handle, void *arg), void *arg)
{
	struct vm_handle *handle;
	int rc = 0;

	vm_lock_take(&session->lock);
	for (handle = session_next(&session->first); handle && rc == 0;
	     handle = session_next(&handle->next))
		rc = each(handle, arg);
	vm_lock_give(&session->lock);
	return rc;
}
