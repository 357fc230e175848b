/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From events to bounds.
 *
 * Only the two sums are read at the moment of an event; everything else, the
 * table and the rows, waits in the ring until it is full.
 */
#include "introspect/measure/overlap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "introspect/vars/value.h"

int vm_overlap_bins_parse(struct vm_overlap_setup *setup, const char *text,
			  char *why, size_t bytes)
{
	const struct vm_cvar row = { .type = VM_VAR_SIZE,
				     .min = 1,
				     .max = INT64_MAX };
	unsigned bins = 0;

	for (const char *next = text; *next;) {
		size_t length = strcspn(next, ",");
		char word[VM_NUMBER_MAX], reason[VM_VALUE_WHY_MAX];
		int64_t edge;

		snprintf(word, sizeof(word), "%.*s", (int)length, next);
		if (length >= sizeof(word) ||
		    vm_value_parse(&row, &edge, reason, word) ||
		    (bins && (uint64_t)edge <= setup->edge[bins - 1]) ||
		    bins == VM_OVERLAP_BINS - 1) {
			snprintf(why, bytes,
				 "\"%s\": at most %d ascending sizes are "
				 "needed, such as 1K,16K,1M",
				 text, VM_OVERLAP_BINS - 1);
			return -VMPI_EINVAL;
		}
		setup->edge[bins++] = (uint64_t)edge;
		next += length + (next[length] == ',');
	}
	setup->edge[bins] = UINT64_MAX;
	setup->bins = bins + 1;
	return 0;
}

unsigned vm_overlap_bin(const struct vm_overlap_setup *setup, uint64_t bytes)
{
	unsigned bin = 0;

	while (bytes > setup->edge[bin])
		bin++;
	return bin;
}

static uint64_t span_of(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/* The time that the rank's core, whichever that was, has run user code. */
static uint64_t core_at(const struct vm_overlap *overlap, uint64_t now)
{
	const struct vm_overlap_core *core;
	uint32_t before, after;
	uint64_t base;

	/* Pairs with the stores in vm_overlap_move(). */
	do {
		before = atomic_load_explicit(&overlap->move,
					      memory_order_acquire);
		core = atomic_load_explicit(&overlap->core,
					    memory_order_relaxed);
		base = atomic_load_explicit(&overlap->core_base,
					    memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		after = atomic_load_explicit(&overlap->move,
					     memory_order_relaxed);
	} while (before != after || (before & 1));
	return base + vm_overlap_sum_at(&core->user, now);
}

void vm_overlap_move(struct vm_overlap *overlap, struct vm_overlap_core *to,
		     uint64_t now)
{
	uint64_t had = core_at(overlap, now);
	uint32_t move =
		atomic_load_explicit(&overlap->move, memory_order_relaxed);

	atomic_store_explicit(&overlap->move, move + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&overlap->core, to, memory_order_relaxed);
	/* Modulo 2^64: the new core may have computed longer. */
	atomic_store_explicit(&overlap->core_base,
			      had - vm_overlap_sum_at(&to->user, now),
			      memory_order_relaxed);
	/* Pairs with the loads in core_at(). */
	atomic_store_explicit(&overlap->move, move + 2, memory_order_release);
}

#define FIRST_CALL 1 /* in which it is before it has started */

/* The number of the call that the rank is in, or 0. */
static uint32_t call_now(const struct vm_overlap *overlap)
{
	if (vm_overlap_sum_is_on(&overlap->user))
		return 0;
	return atomic_load_explicit(&overlap->calls, memory_order_relaxed);
}

void vm_overlap_init(struct vm_overlap *overlap,
		     const struct vm_overlap_setup *setup,
		     struct vm_overlap_core *core, uint64_t now, bool on)
{
	overlap->setup = setup;
	atomic_init(&overlap->core, core ? core : &overlap->own);
	atomic_init(&overlap->on, on);
	vm_lock_init(&overlap->lock);
	overlap->sections = 1;
	overlap->list[0].parent = -1;
	overlap->since = overlap->entered = now;
	atomic_init(&overlap->calls, FIRST_CALL);
}

void vm_overlap_start(struct vm_overlap *overlap, uint64_t now)
{
	if (call_now(overlap) == FIRST_CALL)
		overlap->since = overlap->entered = now;
}

static bool is_on(const struct vm_overlap *overlap)
{
	return atomic_load_explicit(&overlap->on, memory_order_relaxed);
}

static void account(struct vm_overlap *overlap, uint64_t now)
{
	vm_overlap_charge(overlap, now, vm_overlap_sum_is_on(&overlap->user));
}

static void fold(struct vm_overlap *overlap);

static void put(struct vm_overlap *overlap,
		const struct vm_overlap_entry *entry)
{
	vm_lock_take(&overlap->lock);
	if (overlap->used == VM_OVERLAP_RING)
		fold(overlap);
	overlap->ring[overlap->used++] = *entry;
	vm_lock_give(&overlap->lock);
}

static uint16_t section_now(const struct vm_overlap *overlap)
{
	return (uint16_t)atomic_load_explicit(&overlap->section,
					      memory_order_relaxed);
}

static void xfer_put(const struct vm_overlap_xfer *xfer,
		     enum vm_overlap_kind kind)
{
	const struct vm_overlap_entry entry = { .bytes = xfer->bytes,
						.kind = (uint8_t)kind,
						.side = xfer->side,
						.path = xfer->path,
						.section = xfer->section };

	put(xfer->overlap, &entry);
}

static void stamp(struct vm_overlap *overlap, struct vm_overlap_xfer *xfer,
		  uint64_t now, enum vm_side side, enum vm_path path)
{
	*xfer = (struct vm_overlap_xfer){
		.overlap = overlap,
		.time = now,
		.user = vm_overlap_sum_at(&overlap->user, now),
		.core = core_at(overlap, now),
		.call = call_now(overlap),
		.section = section_now(overlap),
		.side = (uint8_t)side,
		.path = (uint8_t)path,
		.known = is_on(overlap),
	};
}

void vm_overlap_mark(struct vm_overlap *overlap, struct vm_overlap_xfer *xfer,
		     uint64_t now, enum vm_side side, enum vm_path path)
{
	stamp(overlap, xfer, now, side, path);
	xfer->parts = true;
}

void vm_overlap_begin(struct vm_overlap *overlap, struct vm_overlap_xfer *xfer,
		      uint64_t now, enum vm_side side, enum vm_path path,
		      uint64_t bytes)
{
	stamp(overlap, xfer, now, side, path);
	xfer->bytes = bytes;
	if (xfer->known)
		xfer_put(xfer, VM_XFER_OPEN);
}

/* Fills in the time and the computation from the begin of a transfer until
 * now. */
static void since_begin(struct vm_overlap_entry *entry,
			const struct vm_overlap *overlap,
			const struct vm_overlap_xfer *xfer, uint64_t now)
{
	entry->side = xfer->side;
	entry->path = xfer->path;
	entry->section = xfer->section;
	entry->span = span_of(xfer->time, now);
	entry->user =
		span_of(xfer->user, vm_overlap_sum_at(&overlap->user, now));
	/* The core's sum is modulo 2^64, its growth is not. */
	entry->core = core_at(overlap, now) - xfer->core;
	if ((int64_t)entry->core < 0)
		entry->core = 0;
	entry->same_call = xfer->call && xfer->call == call_now(overlap);
}

void vm_overlap_end(struct vm_overlap_xfer *xfer, uint64_t now)
{
	struct vm_overlap *overlap = xfer->overlap;
	struct vm_overlap_entry entry = { .bytes = xfer->bytes };

	if (!overlap)
		return;
	xfer->overlap = NULL;
	if (xfer->parts)
		return;
	if (!xfer->known) {
		vm_overlap_half(overlap, xfer->side, xfer->path, xfer->bytes);
		return;
	}
	since_begin(&entry, overlap, xfer, now);
	entry.kind = is_on(overlap) ? VM_XFER_BOTH : VM_XFER_BEGUN;
	put(overlap, &entry);
}

void vm_overlap_part(const struct vm_overlap_xfer *xfer, uint64_t now,
		     uint64_t bytes)
{
	struct vm_overlap_entry entry = { .bytes = bytes,
					  .kind = VM_XFER_BOTH };

	if (!xfer->overlap || !is_on(xfer->overlap))
		return;
	if (!xfer->known) {
		vm_overlap_half(xfer->overlap, xfer->side, xfer->path, bytes);
		return;
	}
	xfer_put(&(struct vm_overlap_xfer){ .overlap = xfer->overlap,
					    .bytes = bytes,
					    .side = xfer->side,
					    .path = xfer->path,
					    .section = xfer->section },
		 VM_XFER_OPEN);
	since_begin(&entry, xfer->overlap, xfer, now);
	put(xfer->overlap, &entry);
}

void vm_overlap_forget(struct vm_overlap_xfer *xfer)
{
	if (xfer->overlap && xfer->known && !xfer->parts)
		xfer_put(xfer, VM_XFER_NONE);
	xfer->overlap = NULL;
}

void vm_overlap_half(struct vm_overlap *overlap, enum vm_side side,
		     enum vm_path path, uint64_t bytes)
{
	const struct vm_overlap_entry entry = {
		.bytes = bytes,
		.kind = VM_XFER_HALF,
		.side = (uint8_t)side,
		.path = (uint8_t)path,
		.section = section_now(overlap),
	};

	if (is_on(overlap))
		put(overlap, &entry);
}

/*
 * Short copies are many and mostly like the last one of their side: then that
 * one counts them, so that the ring holds few of them and each costs a few
 * comparisons.
 */
void vm_overlap_copied(struct vm_overlap *overlap, enum vm_side side,
		       enum vm_path path, uint64_t bytes)
{
	const struct vm_overlap_core *core =
		atomic_load_explicit(&overlap->core, memory_order_relaxed);
	bool user = vm_overlap_sum_is_on(&overlap->user);
	bool core_user = vm_overlap_sum_is_on(&core->user);
	uint16_t section = section_now(overlap);
	struct vm_overlap_entry *entry;

	if (!is_on(overlap))
		return;
	vm_lock_take(&overlap->lock);
	entry = &overlap->ring[overlap->last[side]];
	if (overlap->last[side] < overlap->used &&
	    entry->kind == VM_XFER_EXACT && entry->side == side &&
	    entry->bytes == bytes && entry->path == path &&
	    entry->section == section && entry->user == user &&
	    entry->core == core_user && entry->more < UINT16_MAX) {
		entry->more++;
		vm_lock_give(&overlap->lock);
		return;
	}
	if (overlap->used == VM_OVERLAP_RING)
		fold(overlap);
	overlap->last[side] = overlap->used;
	overlap->ring[overlap->used++] = (struct vm_overlap_entry){
		.bytes = bytes,
		.kind = VM_XFER_EXACT,
		.user = user,
		.core = core_user,
		.side = (uint8_t)side,
		.path = (uint8_t)path,
		.section = section,
	};
	vm_lock_give(&overlap->lock);
}

/* Finds the section `name` inside the innermost one, or makes it; or -1. */
static int section_find(struct vm_overlap *overlap, const char *name)
{
	int parent = section_now(overlap);
	struct vm_overlap_section *section;

	for (unsigned i = 1; i < overlap->sections; i++)
		if (overlap->list[i].parent == parent &&
		    !strncmp(overlap->list[i].name, name,
			     VM_SECTION_NAME_MAX - 1))
			return (int)i;
	if (overlap->sections == VM_OVERLAP_SECTIONS)
		return -1;
	section = &overlap->list[overlap->sections];
	snprintf(section->name, sizeof(section->name), "%s", name);
	section->parent = parent;
	return (int)overlap->sections++;
}

/* Beyond the limits a section is a part of the one around it. */
void vm_overlap_section_begin(struct vm_overlap *overlap, uint64_t now,
			      const char *name)
{
	int found = overlap->depth < VM_OVERLAP_DEPTH ?
			    section_find(overlap, name) :
			    -1;

	account(overlap, now);
	if (overlap->depth < VM_OVERLAP_DEPTH)
		overlap->outer[overlap->depth] = section_now(overlap);
	overlap->depth++;
	if (found < 0) {
		overlap->sections_lost++;
		return;
	}
	overlap->list[found].entered++;
	atomic_store_explicit(&overlap->section, (uint32_t)found,
			      memory_order_relaxed);
}

int vm_overlap_section_end(struct vm_overlap *overlap, uint64_t now,
			   const char *name)
{
	const struct vm_overlap_section *section =
		vm_overlap_innermost(overlap);
	unsigned outer;

	if (!overlap->depth)
		return -VMPI_EINVAL;
	if (overlap->depth > VM_OVERLAP_DEPTH) {
		overlap->depth--;
		return 0;
	}
	outer = overlap->outer[overlap->depth - 1];
	/* One without a row of its own has no name to compare. */
	if (name && outer != section_now(overlap) &&
	    strncmp(section->name, name, VM_SECTION_NAME_MAX - 1) != 0)
		return -VMPI_EINVAL;
	account(overlap, now);
	overlap->depth--;
	atomic_store_explicit(&overlap->section, outer, memory_order_relaxed);
	return 0;
}

void vm_overlap_switch(struct vm_overlap *overlap, uint64_t now, bool on)
{
	account(overlap, now);
	atomic_store_explicit(&overlap->on, on, memory_order_relaxed);
}

/* Both bounds of a transfer that takes xfer, of which the time from begin to
 * end is span, in which `computed` was spent computing. */
struct bounds {
	uint64_t min, max;
};

static struct bounds bounds_of(uint64_t xfer, uint64_t span, uint64_t computed)
{
	uint64_t waited;

	if (computed > span)
		computed = span; /* clocks of two cores */
	waited = span - computed;
	return (struct bounds){
		.max = computed < xfer ? computed : xfer,
		.min = waited < xfer ? xfer - waited : 0,
	};
}

/* Case 2, and case 1 from the rank's view.  No transfer takes longer than from
 * its begin to its end. */
static void row_both(struct vm_overlap_row *row,
		     const struct vm_overlap_entry *entry, uint64_t xfer)
{
	struct bounds rank = { 0 }, core;

	if (xfer > entry->span) {
		xfer = entry->span;
		row->capped++;
	}
	core = bounds_of(xfer, entry->span, entry->core);
	if (entry->same_call)
		row->same_call++;
	else
		rank = bounds_of(xfer, entry->span, entry->user);
	row->data += xfer;
	row->min += rank.min;
	row->max += rank.max;
	row->core_min += core.min;
	row->core_max += core.max;
}

/* Case 3. */
static void row_half(struct vm_overlap_row *row, uint64_t xfer)
{
	row->half++;
	row->data += xfer;
	row->max += xfer;
	row->core_max += xfer;
}

static void row_exact(struct vm_overlap_row *row,
		      const struct vm_overlap_entry *entry, uint64_t xfer)
{
	uint64_t count = (uint64_t)entry->more + 1, all = xfer * count;
	uint64_t rank = entry->user ? all : 0, core = entry->core ? all : 0;

	row->same_call += entry->user ? 0 : count;
	row->data += all;
	row->min += rank;
	row->max += rank;
	row->core_min += core;
	row->core_max += core;
}

static void row_open(struct vm_overlap_row *row, uint64_t bytes, uint64_t xfer)
{
	row->open++;
	row->open_bytes += bytes;
	row->open_data += xfer;
}

static void row_close(struct vm_overlap_row *row, uint64_t bytes, uint64_t xfer)
{
	row->open--;
	row->open_bytes -= bytes;
	row->open_data -= xfer;
}

static void entry_fold(struct vm_overlap *overlap,
		       const struct vm_overlap_entry *entry)
{
	const struct vm_overlap_setup *setup = overlap->setup;
	uint64_t xfer = vm_xfer_time(&setup->table, entry->path, entry->bytes);
	struct vm_overlap_row *row =
		&overlap->rows[entry->section][entry->side]
			      [vm_overlap_bin(setup, entry->bytes)];

	switch ((enum vm_overlap_kind)entry->kind) {
	case VM_XFER_OPEN:
		row_open(row, entry->bytes, xfer);
		return;
	case VM_XFER_NONE:
		row_close(row, entry->bytes, xfer);
		return;
	case VM_XFER_BOTH:
		row_close(row, entry->bytes, xfer);
		row_both(row, entry, xfer);
		break;
	case VM_XFER_BEGUN:
		row_close(row, entry->bytes, xfer);
		row_half(row, xfer);
		break;
	case VM_XFER_HALF:
		row_half(row, xfer);
		break;
	case VM_XFER_EXACT:
		row_exact(row, entry, xfer);
		break;
	}
	row->transfers += 1 + (uint64_t)entry->more;
	row->bytes += entry->bytes * (1 + (uint64_t)entry->more);
}

/* Under lock. */
static void fold(struct vm_overlap *overlap)
{
	for (unsigned i = 0; i < overlap->used; i++)
		entry_fold(overlap, &overlap->ring[i]);
	overlap->used = 0;
	overlap->folds++;
}

void vm_overlap_fold(struct vm_overlap *overlap)
{
	vm_lock_take(&overlap->lock);
	fold(overlap);
	vm_lock_give(&overlap->lock);
}

void vm_overlap_fold_dead(struct vm_overlap *overlap)
{
	if (overlap->used > VM_OVERLAP_RING)
		overlap->used = 0;
	fold(overlap);
}

void vm_overlap_row_add(struct vm_overlap_row *sum,
			const struct vm_overlap_row *row)
{
#define ADD(name, text) sum->name += row->name;
	VM_OVERLAP_ROW(ADD)
#undef ADD
	sum->transfers += row->open;
	sum->bytes += row->open_bytes;
	sum->half += row->open;
	sum->data += row->open_data;
	sum->max += row->open_data;
	sum->core_max += row->open_data;
}

void vm_overlap_section_path(const struct vm_overlap *overlap, unsigned section,
			     char *path, size_t bytes)
{
	const struct vm_overlap_section *list = overlap->list;
	unsigned chain[VM_OVERLAP_SECTIONS];
	size_t count = 0, used = 0;

	path[0] = '\0';
	while (section && count < VM_OVERLAP_SECTIONS) {
		chain[count++] = section;
		section = (unsigned)list[section].parent;
	}
	while (count-- && used < bytes) {
		int n = snprintf(path + used, bytes - used, "%s%.*s",
				 used ? "/" : "", VM_SECTION_NAME_MAX,
				 list[chain[count]].name);

		used += n > 0 ? (size_t)n : 0;
	}
}
