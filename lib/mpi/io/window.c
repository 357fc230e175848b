/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of a file.
 */
#include "mpi/io/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/io/cover.h"
#include "mpi/io/disk.h"
#include "mpi/io/move.h"
#include "mpi/io/range.h"

/* Gaps of so many bytes are read along. */
#define GAP_READ (16 << 10)

size_t vm_view_walk_before(struct vm_view_walk *walk, MPI_Offset *at,
			   MPI_Offset end)
{
	struct vm_view_walk here = *walk;
	size_t n = vm_view_walk_piece(walk, at, SIZE_MAX);

	if (!n || *at + (MPI_Offset)n <= end)
		return n;
	*walk = here;
	if (*at >= end)
		return 0;
	return vm_view_walk_piece(walk, at, (size_t)(end - *at));
}

void vm_io_source_copy(struct vm_io_source *source, char *buffer, size_t n)
{
	bool write = source->op->write;
	size_t bytes;
	char *piece;

	while (n && (bytes = vm_cursor_piece(&source->memory, &piece, n))) {
		if (write)
			memcpy(buffer, piece, bytes);
		else
			memcpy(piece, buffer, bytes);
		buffer += bytes;
		n -= bytes;
	}
}

void vm_io_window_copy(struct vm_io_window *window, struct vm_io_source *source)
{
	MPI_Offset at;
	size_t n;

	while ((n = vm_view_walk_before(&source->walk, &at, window->end))) {
		size_t place = (size_t)(at - window->first);

		vm_io_source_copy(source, window->buffer + place, n);
		if (window->write)
			vm_cover_set(window->bits, place, n);
		else
			source->op->moved += n;
	}
}

void vm_io_window_mark(struct vm_io_window *window,
		       const struct vm_io_source *source)
{
	struct vm_view_walk walk = source->walk;
	MPI_Offset at;
	size_t n;

	while ((n = vm_view_walk_before(&walk, &at, window->end)) != 0)
		vm_cover_set(window->bits, (size_t)(at - window->first), n);
}

void vm_io_window_go(struct vm_io_window *window, MPI_Offset first,
		     MPI_Offset end)
{
	window->first = first;
	window->end = end;
	memset(window->bits, 0,
	       vm_cover_words((size_t)(end - first)) * sizeof(*window->bits));
}

int vm_io_window_open(struct vm_io_window *window)
{
	window->buffer = vm_disk_buffer(window->disk, window->most);
	window->bits =
		malloc(vm_cover_words(window->most) * sizeof(*window->bits));
	if (window->sieve)
		window->old = vm_disk_buffer(window->disk, window->most);
	if (!window->buffer || !window->bits || (window->sieve && !window->old))
		return ENOMEM;
	return 0;
}

void vm_io_window_close(struct vm_io_window *window)
{
	if (window->old)
		vm_disk_buffer_put(window->disk, window->old);
	if (window->buffer)
		vm_disk_buffer_put(window->disk, window->buffer);
	free(window->bits);
}

int vm_io_window_read(struct vm_io_window *window, MPI_Offset *end)
{
	size_t bytes = (size_t)(window->end - window->first);
	size_t at = 0, n, next, more, moved;
	int error;

	while ((n = vm_cover_run(window->bits, &at, bytes)) != 0) {
		for (next = at + n;
		     (more = vm_cover_run(window->bits, &next, bytes)) &&
		     next - (at + n) <= GAP_READ;
		     next = at + n)
			n = next + more - at;
		error = vm_disk_read(window->disk, window->buffer + at, n,
				     window->first + (MPI_Offset)at, &moved);
		if (error)
			return error;
		if (moved < n) {
			*end = window->first + (MPI_Offset)(at + moved);
			return 0;
		}
		at += n;
	}
	return 0;
}

/* Counts the runs of data, and where the first begins and the last ends. */
static size_t runs_count(const struct vm_io_window *window, size_t *first,
			 size_t *end, size_t *data)
{
	size_t bytes = (size_t)(window->end - window->first);
	size_t at = 0, n, count = 0;

	*data = 0;
	while ((n = vm_cover_run(window->bits, &at, bytes)) != 0) {
		if (!count++)
			*first = at;
		*data += n;
		at += n;
		*end = at;
	}
	return count;
}

/* Puts what is in the file between the data. */
static void gaps_fill(struct vm_io_window *window, size_t first, size_t end)
{
	size_t at = first, n;

	while (at < end) {
		size_t next = at;

		n = vm_cover_run(window->bits, &next, end);
		memcpy(window->buffer + at, window->old + at, next - at);
		at = next + n;
	}
}

/* Writes the gaps back, too. */
static int write_back(struct vm_io_window *window, size_t first, size_t end,
		      size_t *moved)
{
	MPI_Offset at = window->first + (MPI_Offset)first;
	struct vm_range range = { .first = at,
				  .end = window->first + (MPI_Offset)end,
				  .alone = true };
	size_t bytes = end - first, got;
	int error = vm_range_take(window->disk, &range);

	*moved = 0;
	if (error)
		return error;
	error = vm_disk_read(window->disk, window->old + first, bytes, at,
			     &got);
	if (!error) {
		memset(window->old + first + got, 0, bytes - got);
		gaps_fill(window, first, end);
		error = vm_disk_write(window->disk, window->buffer + first,
				      bytes, at, moved);
	}
	vm_range_give(window->disk, &range);
	return error;
}

/* Writes nothing but the data. */
static int write_runs(struct vm_io_window *window, MPI_Offset *end)
{
	size_t bytes = (size_t)(window->end - window->first);
	size_t at = 0, n, moved;
	int error = 0;

	while (!error && (n = vm_cover_run(window->bits, &at, bytes)) != 0) {
		error = vm_disk_write(window->disk, window->buffer + at, n,
				      window->first + (MPI_Offset)at, &moved);
		*end = window->first + (MPI_Offset)(at + moved);
		at += n;
	}
	return error;
}

int vm_io_window_write(struct vm_io_window *window, MPI_Offset *end)
{
	struct vm_disk *disk = window->disk;
	bool locks = atomic_load_explicit(&disk->sieves, memory_order_relaxed);
	size_t moved, first = 0, last = 0, data;
	size_t runs = runs_count(window, &first, &last, &data);
	struct vm_range range = { .first = window->first + (MPI_Offset)first,
				  .end = window->first + (MPI_Offset)last };
	int error;

	if (window->sieve && runs > 1 &&
	    vm_move_fills(last - first, data, runs)) {
		error = write_back(window, first, last, &moved);
		*end = window->first + (MPI_Offset)(first + moved);
		return error;
	}
	error = locks ? vm_range_take(disk, &range) : 0;
	if (error)
		return error;
	error = write_runs(window, end);
	if (locks)
		vm_range_give(disk, &range);
	return error;
}
