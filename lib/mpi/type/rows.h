/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The elements of a buffer, one row after the other: a row is as many as lie
 * behind each other.
 */
#ifndef MPI_TYPE_ROWS_H
#define MPI_TYPE_ROWS_H

#include "core/local/layout.h"
#include "mpi/type/type.h"

struct vm_rows {
	struct vm_cursor cursor;
	const struct vm_type *basic; /* of an element; predefined */
	char *at;		     /* the rest of the row, */
	size_t have;		     /* so many elements */
};

static inline void vm_rows_init(struct vm_rows *rows,
				const struct vm_type *basic,
				struct vm_data data)
{
	vm_cursor_init(&rows->cursor, &data);
	rows->basic = basic;
	rows->have = 0;
}

/* Goes on to the next row if this one is used up: how many elements are left in
 * it, 0 at the end. */
size_t vm_rows_next(struct vm_rows *rows);

/* Uses n elements of the row up. */
static inline void vm_rows_skip(struct vm_rows *rows, size_t n)
{
	rows->at += (ptrdiff_t)n * rows->basic->extent;
	rows->have -= n;
}

#endif
