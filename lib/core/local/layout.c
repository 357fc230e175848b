/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layouts and copying between them.
 *
 * Runs are merged once, when a layout is sealed, so that copying meets as few
 * and as long ones as there can be.  A copy between a layout and plain bytes,
 * or between two buffers of one layout, walks whole runs; all else walks two
 * cursors at once.  Nothing is ever packed on the way.
 */
#include "core/local/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct vm_layout *vm_layout_new(size_t run_count)
{
	struct vm_layout *layout = NULL;
	size_t bytes;

	if (__builtin_mul_overflow(run_count, sizeof(layout->runs[0]),
				   &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(*layout), &bytes))
		return NULL;
	layout = malloc(bytes);
	if (!layout)
		return NULL;
	atomic_init(&layout->refs, 1);
	layout->bytes = 0;
	layout->extent = 0;
	layout->run_count = run_count;
	return layout;
}

void vm_layout_drop(const struct vm_layout *layout)
{
	struct vm_layout *l = (struct vm_layout *)(uintptr_t)layout;

	/* Release our reads, acquire everyone's before the memory goes. */
	if (l &&
	    atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) == 1)
		free(l);
}

/* Joins b to a if it begins where a ends. */
static bool join_ends(struct vm_run *a, const struct vm_run *b)
{
	if (a->count != 1 || b->count != 1 ||
	    a->offset + (ptrdiff_t)a->bytes != b->offset)
		return false;
	a->bytes += b->bytes;
	a->stride = (ptrdiff_t)a->bytes;
	return true;
}

/* Joins b's blocks to a if they continue at its stride. */
static bool join_strides(struct vm_run *a, const struct vm_run *b)
{
	ptrdiff_t stride = a->stride;

	if (a->bytes != b->bytes)
		return false;
	if (a->count == 1)
		stride = b->offset - a->offset;
	if (b->offset != a->offset + (ptrdiff_t)a->count * stride ||
	    (b->count > 1 && b->stride != stride))
		return false;
	a->count += b->count;
	a->stride = stride;
	return true;
}

static size_t merge(struct vm_run *runs, size_t count,
		    bool (*join)(struct vm_run *, const struct vm_run *))
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!kept || !join(&runs[kept - 1], &runs[i]))
			runs[kept++] = runs[i];
	return kept;
}

/* Drops empty runs and makes blocks that touch one block. */
static size_t normalise(struct vm_run *runs, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct vm_run run = runs[i];

		if (!run.bytes || !run.count)
			continue;
		if (run.count > 1 && run.stride == (ptrdiff_t)run.bytes) {
			run.bytes *= run.count;
			run.count = 1;
		}
		if (run.count == 1)
			run.stride = (ptrdiff_t)run.bytes;
		runs[kept++] = run;
	}
	return kept;
}

void vm_layout_seal(struct vm_layout *layout, ptrdiff_t extent)
{
	size_t count = normalise(layout->runs, layout->run_count);

	count = merge(layout->runs, count, join_ends);
	count = merge(layout->runs, count, join_strides);
	layout->run_count = count;
	layout->extent = extent;
	layout->bytes = 0;
	for (size_t i = 0; i < count; i++)
		layout->bytes += layout->runs[i].bytes * layout->runs[i].count;
}

bool vm_layout_dense(const struct vm_layout *layout, ptrdiff_t *offset)
{
	const struct vm_run *run = layout->runs;

	if (!layout->run_count) {
		*offset = 0;
		return true;
	}
	if (layout->run_count > 1 || run->count > 1 ||
	    (ptrdiff_t)run->bytes != layout->extent)
		return false;
	*offset = run->offset;
	return true;
}

/* Addresses are computed as numbers: a layout may hold absolute addresses, to
 * be added to a buffer at 0. */
static char *at(const void *addr, ptrdiff_t offset)
{
	return (char *)((uintptr_t)addr + (uintptr_t)offset);
}

void vm_cursor_init(struct vm_cursor *cursor, const struct vm_data *data)
{
	*cursor = (struct vm_cursor){ .data = *data, .left = data->bytes };
}

/* The run under the cursor and the address of its element. */
static const struct vm_run *cursor_run(const struct vm_cursor *c, char **addr)
{
	const struct vm_layout *layout = c->data.layout;

	*addr = at(c->data.addr, (ptrdiff_t)c->element * layout->extent);
	return &layout->runs[c->run];
}

/* Goes on by whole blocks of the run. */
static void cursor_advance(struct vm_cursor *c, const struct vm_run *run,
			   size_t blocks)
{
	c->used = 0;
	c->block += blocks;
	if (c->block < run->count)
		return;
	c->block = 0;
	if (++c->run < c->data.layout->run_count)
		return;
	c->run = 0;
	c->element++;
}

size_t vm_cursor_piece(struct vm_cursor *c, char **piece, size_t most)
{
	const struct vm_run *run;
	size_t bytes = most < c->left ? most : c->left;

	if (!bytes)
		return 0;
	if (!c->data.layout) {
		*piece = at(c->data.addr, (ptrdiff_t)c->used);
		c->used += bytes;
		c->left -= bytes;
		return bytes;
	}
	run = cursor_run(c, piece);
	*piece = at(*piece, run->offset + (ptrdiff_t)c->block * run->stride +
				    (ptrdiff_t)c->used);
	if (bytes > run->bytes - c->used)
		bytes = run->bytes - c->used;
	c->used += bytes;
	c->left -= bytes;
	if (c->used == run->bytes)
		cursor_advance(c, run, 1);
	return bytes;
}

/* Blocks of a size known to the compiler. */
#define COPY_CASE(size)                               \
	case size:                                    \
		for (i = 0; i < n; i++) {             \
			memcpy(to, from, size);       \
			to = at(to, to_stride);       \
			from = at(from, from_stride); \
		}                                     \
		break

static void copy_blocks(char *to, ptrdiff_t to_stride, const char *from,
			ptrdiff_t from_stride, size_t bytes, size_t n)
{
	size_t i;

	switch (bytes) {
		COPY_CASE(1);
		COPY_CASE(2);
		COPY_CASE(4);
		COPY_CASE(8);
		COPY_CASE(12);
		COPY_CASE(16);
		COPY_CASE(24);
		COPY_CASE(32);
	default:
		for (i = 0; i < n; i++) {
			memcpy(to, from, bytes);
			to = at(to, to_stride);
			from = at(from, from_stride);
		}
	}
}

/* One side of a walk over the runs of a layout. */
struct side {
	char *addr;
	bool packed; /* the blocks follow each other */
};

static char *side_place(struct side *side, const struct vm_run *run,
			ptrdiff_t element, size_t bytes, ptrdiff_t *stride)
{
	char *place = side->addr;

	if (side->packed) {
		side->addr += bytes;
		return place;
	}
	*stride = run->stride;
	return at(place, element + run->offset);
}

/* Copies whole elements of a layout that at least one side has. */
static void copy_elements(struct side to, struct side from,
			  const struct vm_layout *layout, size_t elements)
{
	const struct vm_run *run = layout->runs;
	ptrdiff_t extent = layout->extent;

	if (layout->run_count == 1 && run->count == 1) {
		ptrdiff_t bytes = (ptrdiff_t)run->bytes;

		copy_blocks(to.packed ? to.addr : at(to.addr, run->offset),
			    to.packed ? bytes : extent,
			    from.packed ? from.addr :
					  at(from.addr, run->offset),
			    from.packed ? bytes : extent, run->bytes, elements);
		return;
	}
	for (size_t e = 0; e < elements; e++) {
		ptrdiff_t element = (ptrdiff_t)e * extent;

		run = layout->runs;
		for (size_t r = 0; r < layout->run_count; r++, run++) {
			size_t bytes = run->bytes * run->count;
			ptrdiff_t to_stride = (ptrdiff_t)run->bytes;
			ptrdiff_t from_stride = to_stride;
			char *t = side_place(&to, run, element, bytes,
					     &to_stride);
			char *f = side_place(&from, run, element, bytes,
					     &from_stride);

			copy_blocks(t, to_stride, f, from_stride, run->bytes,
				    run->count);
		}
	}
}

/* The number of whole blocks that begin at the cursor in its run; 0 inside of
 * one. */
static size_t blocks_ahead(const struct vm_cursor *c, size_t *bytes)
{
	const struct vm_run *run = &c->data.layout->runs[c->run];
	size_t blocks = run->count - c->block;

	*bytes = run->bytes;
	if (c->used)
		return 0;
	return blocks < c->left / run->bytes ? blocks : c->left / run->bytes;
}

/* Copies blocks that both cursors have in the same size; how many. */
static size_t copy_common(struct vm_cursor *to, struct vm_cursor *from)
{
	const struct vm_run *to_run, *from_run;
	size_t to_bytes, from_bytes;
	size_t n = blocks_ahead(to, &to_bytes);
	size_t m = blocks_ahead(from, &from_bytes);
	char *t, *f;

	if (m < n)
		n = m;
	if (!n || to_bytes != from_bytes)
		return 0;
	to_run = cursor_run(to, &t);
	from_run = cursor_run(from, &f);
	t = at(t, to_run->offset + (ptrdiff_t)to->block * to_run->stride);
	f = at(f, from_run->offset + (ptrdiff_t)from->block * from_run->stride);
	copy_blocks(t, to_run->stride, f, from_run->stride, to_bytes, n);
	cursor_advance(to, to_run, n);
	cursor_advance(from, from_run, n);
	to->left -= n * to_bytes;
	from->left -= n * to_bytes;
	return n;
}

/* Between any two; both hold at least `bytes` bytes. */
static void copy_any(const struct vm_data *to_data,
		     const struct vm_data *from_data, size_t bytes)
{
	struct vm_cursor to, from;
	bool runs = to_data->layout && from_data->layout;

	vm_cursor_init(&to, to_data);
	vm_cursor_init(&from, from_data);
	to.left = from.left = bytes;
	while (to.left) {
		char *t = NULL, *f = NULL;
		size_t n, m;

		if (runs && copy_common(&to, &from))
			continue;
		n = vm_cursor_piece(&to, &t, SIZE_MAX);
		for (; n; n -= m, t += m) {
			m = vm_cursor_piece(&from, &f, n);
			memcpy(t, f, m);
		}
	}
}

/* Moves the beginning of data behind its first `elements` elements. */
static void skip_elements(struct vm_data *data, const struct vm_layout *layout,
			  size_t elements)
{
	size_t bytes = elements * layout->bytes;
	ptrdiff_t step = (ptrdiff_t)bytes;

	if (data->layout) {
		step = (ptrdiff_t)elements * layout->extent;
		data->count -= elements;
	}
	data->addr = at(data->addr, step);
	data->bytes -= bytes;
}

size_t vm_data_copy_slow(const struct vm_data *to, const struct vm_data *from)
{
	const struct vm_layout *layout = to->layout;
	size_t bytes = to->bytes < from->bytes ? to->bytes : from->bytes;
	struct vm_data to_rest = *to, from_rest = *from;
	size_t elements;

	if (!bytes)
		return 0;
	if (!layout)
		layout = from->layout;
	if (!layout) {
		memcpy(to->addr, from->addr, bytes);
		return bytes;
	}
	if (to->layout && from->layout && to->layout != from->layout) {
		copy_any(to, from, bytes);
		return bytes;
	}
	elements = bytes / layout->bytes;
	copy_elements((struct side){ to->addr, !to->layout },
		      (struct side){ from->addr, !from->layout }, layout,
		      elements);
	skip_elements(&to_rest, layout, elements);
	skip_elements(&from_rest, layout, elements);
	copy_any(&to_rest, &from_rest, bytes - elements * layout->bytes);
	return bytes;
}
