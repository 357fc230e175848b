/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of a handle, for the three files of session.h: session.c makes and
 * moves them, session_read.c reads without a lock, session_mark.c resets
 * watermarks.
 *
 * A handle keeps one word per value, its base: of counters their value at the
 * beginning, of watermarks the extreme since then that the live mark does not
 * show any more.
 */
#ifndef INTROSPECT_VARS_SESSION_HANDLE_H
#define INTROSPECT_VARS_SESSION_HANDLE_H

#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/err.h"
#include "base/list.h"
#include "base/lock.h"
#include "introspect/vars/session.h"

enum vm_handle_kind {
	VM_AS_IS, /* the value itself */
	VM_SINCE, /* less the base */
	VM_MARK,  /* that or the base, whichever is more extreme */
};

#define VM_LEVEL_NONE UINT_MAX

struct vm_handle {
	_Atomic(struct vm_handle *) next; /* in the session */
	struct vm_session *session;
	struct vm_lock lock;  /* orders reset, start, stop; guards scratch */
	struct vm_list marks; /* of a MARK: session_mark.c */
	unsigned level;	   /* word of the LEVEL of a MARK, or VM_LEVEL_NONE */
	unsigned blocks;   /* blocks of the place, from first on */
	uint64_t *scratch; /* count words */
	const void *block; /* of an object; NULL: those of the place */
	struct vm_shortcut *shortcut; /* or NULL */
	void (*refresh)(const void *block);
	unsigned count;
	/* The fields that a read of one word needs, with the first base: one
	 * cache line, since a tool that reads hundreds has the program's data
	 * to read again afterwards. */
	struct vm_pvar_spot spot VM_ALIGNED(VM_CACHELINE);
	/* The place where the block was last seen to be here; relaxed. */
	_Atomic(const struct vm_pvar_place *) sure;
	unsigned first;
	unsigned short words; /* of the row */
	bool shortened;	      /* it has a shortcut: in this line */
	unsigned char kind;   /* enum vm_handle_kind */
	bool low;	      /* a low-water mark */
	bool adds;	      /* what is folded is added */
	bool fold;	      /* all blocks make the same values */
	bool total;	      /* all values make one */
	bool simple;	      /* it is one word of one block */
	_Atomic bool stopped;
	_Atomic bool based; /* a base is, or was, not 0 */
	/* The bases (of a MARK: session_mark.c), and behind them the values when
	 * the handle stopped. */
	_Atomic uint64_t bases[];
};

VM_STATIC_ASSERT(offsetof(struct vm_handle, bases) -
				 offsetof(struct vm_handle, spot) <=
			 VM_CACHELINE - sizeof(uint64_t),
		 "the first base is in the line");

struct vm_session {
	int rank;
	struct vm_lock lock; /* orders those that make and free handles */
	/* A handle is whole before the release store that links it; pairs with
	 * the acquire loads of those who walk. */
	_Atomic(struct vm_handle *) first;
	_Atomic unsigned words;
};

static inline bool vm_handle_low(const struct vm_handle *handle)
{
	return handle->low;
}

/* Whether a is a higher (low: lower) mark than b. */
static inline bool vm_beyond(bool low, uint64_t a, uint64_t b)
{
	return low ? a < b : a > b;
}

static inline const struct vm_pvar_place *
vm_handle_place(const struct vm_handle *handle)
{
	return atomic_load_explicit(handle->spot.place, memory_order_acquire);
}

/* The index of the value that word w of the nth block belongs to. */
static inline unsigned vm_cell_of(const struct vm_handle *handle, unsigned nth,
				  unsigned w)
{
	if (handle->total)
		return 0;
	return handle->fold ? w : nth * handle->words + w;
}

static inline _Atomic uint64_t *vm_frozen_of(const struct vm_handle *handle,
					     unsigned e)
{
	return (_Atomic uint64_t *)&handle->bases[handle->count + e];
}

static inline uint64_t vm_base(struct vm_handle *handle, unsigned e)
{
	return atomic_load_explicit(&handle->bases[e], memory_order_acquire);
}

static inline void vm_base_set(struct vm_handle *handle, unsigned e,
			       uint64_t base)
{
	/* Before it: who sees no base reads none. */
	if (base)
		atomic_store_explicit(&handle->based, true,
				      memory_order_relaxed);
	atomic_store_explicit(&handle->bases[e], base, memory_order_release);
	if (!e && handle->shortcut)
		atomic_store_explicit(&handle->shortcut->base, base,
				      memory_order_release);
}

/*
 * Walks the blocks that a handle sees, as far as they exist.
 */
struct vm_walk {
	const struct vm_pvar_place *place;
	unsigned next, end;
	unsigned at;		      /* index of the block */
	const uint64_t *words, *also; /* of it; also: or NULL */
};

static inline void vm_walk_begin(struct vm_walk *walk,
				 const struct vm_handle *handle)
{
	const struct vm_pvar_place *place = vm_handle_place(handle);

	*walk = (struct vm_walk){ .place = place, .next = handle->first };
	if (!place || handle->first >= place->count)
		return;
	walk->end = place->count;
	if (handle->blocks < place->count - handle->first)
		walk->end = handle->first + handle->blocks;
}

static inline bool vm_walk_on(struct vm_walk *walk)
{
	const struct vm_pvar_place *place = walk->place;
	const char *block;

	while (walk->next < walk->end) {
		walk->at = walk->next++;
		if (place->here && !place->here(walk->at))
			continue;
		block = place->base + walk->at * place->stride;
		walk->words = (const uint64_t *)block;
		walk->also = place->also ?
				     (const uint64_t *)(block + place->also) :
				     NULL;
		return true;
	}
	return false;
}

/* session_read.c: the values as the blocks have them; those of a running
 * handle; those of a stopped one. */
void vm_live_read(const struct vm_handle *handle, uint64_t *values);
void vm_running_read(struct vm_handle *handle, uint64_t *values);
void vm_frozen_read(const struct vm_handle *handle, uint64_t *values);

/* session_mark.c: the mark begins with values, or with the current level
 * (NULL); begins or ends to receive the old values of live marks. */
void vm_mark_begin(struct vm_handle *handle, const uint64_t *values);
void vm_mark_enlist(struct vm_handle *handle);
void vm_mark_delist(struct vm_handle *handle);

#endif
