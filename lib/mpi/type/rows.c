/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of elements.
 */
#include "mpi/type/rows.h"

/* An element with padding, whose bytes are several pieces, is a row by
 * itself. */
size_t vm_rows_next(struct vm_rows *rows)
{
	size_t size = rows->basic->size, n;
	char *piece;

	if (rows->have)
		return rows->have;
	if (rows->basic->dense) {
		n = vm_cursor_piece(&rows->cursor, &rows->at, SIZE_MAX);
		rows->have = n / size;
		return rows->have;
	}
	n = vm_cursor_piece(&rows->cursor, &rows->at, size);
	rows->have = n != 0;
	while (n && n < size)
		n += vm_cursor_piece(&rows->cursor, &piece, size - n);
	return rows->have;
}
