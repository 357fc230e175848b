/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layouts: where the bytes of a message lie in memory.
 *
 * A layout is a flattened datatype: the runs of bytes of one element and the
 * distance to the next.  struct vm_data is a buffer seen through a layout; most
 * are plain bytes and have none.  Copying between any two is one pass.
 */
#ifndef CORE_LOCAL_LAYOUT_H
#define CORE_LOCAL_LAYOUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

/* `count` blocks of `bytes` bytes, `stride` apart, the first at `offset`. */
struct vm_run {
	ptrdiff_t offset;
	size_t bytes;
	size_t count;
	ptrdiff_t stride;
};

/* Immutable once made, shared by count. */
struct vm_layout {
	_Atomic int refs;
	size_t bytes;	  /* data bytes of one element: sum over the runs */
	ptrdiff_t extent; /* from one element to the next */
	size_t run_count;
	struct vm_run runs[];
};

/* `count` elements at addr; with layout == NULL `bytes` bytes at addr. */
struct vm_data {
	void *addr;
	size_t bytes; /* data bytes in all */
	const struct vm_layout *layout;
	size_t count;
};

static inline struct vm_data vm_data_bytes(const void *addr, size_t bytes)
{
	return (struct vm_data){ .addr = (void *)(uintptr_t)addr,
				 .bytes = bytes };
}

/* *data = vm_data_bytes(addr, bytes), word by word: a load of what has just
 * been written in narrower parts stalls until these have left the store
 * buffer. */
static inline void vm_data_set_bytes(struct vm_data *data, const void *addr,
				     size_t bytes)
{
	data->addr = (void *)(uintptr_t)addr;
	data->bytes = bytes;
	data->layout = NULL;
	data->count = 0;
}

/* *to = *from, word by word for the same reason. */
static inline void vm_data_assign(struct vm_data *to,
				  const struct vm_data *from)
{
	to->addr = from->addr;
	to->bytes = from->bytes;
	to->layout = from->layout;
	to->count = from->count;
}

/*
 * A layout with one reference and room for run_count runs, which the caller
 * fills in type map order; vm_layout_seal() then merges neighbours and counts
 * the bytes.  NULL when out of memory.
 */
struct vm_layout *vm_layout_new(size_t run_count);
void vm_layout_seal(struct vm_layout *layout, ptrdiff_t extent);

/* Whether any number of elements is one block of bytes; *offset is where the
 * first element's bytes begin. */
bool vm_layout_dense(const struct vm_layout *layout, ptrdiff_t *offset);

static inline const struct vm_layout *vm_layout_hold(const struct vm_layout *l)
{
	if (l)
		atomic_fetch_add_explicit(
			&((struct vm_layout *)(uintptr_t)l)->refs, 1,
			memory_order_relaxed);
	return l;
}
/* Gives a reference up; NULL is fine. */
void vm_layout_drop(const struct vm_layout *layout);

/*
 * A position in a buffer; vm_cursor_piece() hands out the contiguous pieces
 * one after the other.
 */
struct vm_cursor {
	struct vm_data data;
	size_t element, run, block, used; /* `used` bytes of this block */
	size_t left;			  /* bytes to the end of the data */
};

void vm_cursor_init(struct vm_cursor *cursor, const struct vm_data *data);
/* The next contiguous piece of at most `most` bytes; 0 at the end. */
size_t vm_cursor_piece(struct vm_cursor *cursor, char **piece, size_t most);

size_t vm_data_copy_slow(const struct vm_data *to, const struct vm_data *from);

/* Copies min(to->bytes, from->bytes) bytes in one pass and returns how many;
 * the most frequent sizes on the spot. */
static inline size_t vm_data_copy(const struct vm_data *to,
				  const struct vm_data *from)
{
	size_t bytes = to->bytes < from->bytes ? to->bytes : from->bytes;

	if (VM_UNLIKELY(to->layout || from->layout))
		return vm_data_copy_slow(to, from);
	if (bytes == 8)
		memcpy(to->addr, from->addr, 8);
	else if (bytes == 4)
		memcpy(to->addr, from->addr, 4);
	else if (bytes)
		memcpy(to->addr, from->addr, bytes);
	return bytes;
}

#endif
