/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moving data in stretches: pieces of the file that lie close together.
 */
#include "mpi/io/move.h"

#include <errno.h>
#include <string.h>

#include "mpi/io/disk.h"
#include "mpi/io/range.h"

/* Pieces of so many bytes are not copied on the way; a system call costs as
 * much as copying some thousands. */
#define STRAIGHT (16 << 10)
/* The longest gap that is read over; that is written back. */
#define GAP_READ (4 << 10)
#define GAP_WRITE (4 << 10)

struct stretch {
	MPI_Offset first, end;
	size_t bytes; /* of data */
	size_t runs;  /* in so many contiguous parts */
};

/* The stretch at the beginning of a walk, which is not moved. */
static struct stretch stretch_find(const struct vm_view_walk *from, size_t most,
				   MPI_Offset gap)
{
	struct vm_view_walk walk = *from;
	struct stretch stretch = { .runs = 1 };
	MPI_Offset at;
	size_t n;

	stretch.bytes = vm_view_walk_piece(&walk, &stretch.first, most);
	stretch.end = stretch.first + (MPI_Offset)stretch.bytes;
	while ((n = vm_view_walk_piece(&walk, &at, most)) != 0) {
		MPI_Offset room = stretch.first + (MPI_Offset)most - at;

		if (at < stretch.end || at - stretch.end > gap || room <= 0)
			break;
		if ((MPI_Offset)n > room)
			n = (size_t)room;
		stretch.runs += at != stretch.end;
		stretch.bytes += n;
		stretch.end = at + (MPI_Offset)n;
	}
	return stretch;
}

/* Copies n bytes between memory and a buffer. */
static void memory_copy(struct vm_move *move, char *buffer, size_t n)
{
	size_t bytes;
	char *piece;

	while (n && (bytes = vm_cursor_piece(&move->memory, &piece, n)) != 0) {
		if (move->write)
			memcpy(buffer, piece, bytes);
		else
			memcpy(piece, buffer, bytes);
		buffer += bytes;
		n -= bytes;
	}
}

/* Copies a stretch, whose first byte is the buffer's: a read those before
 * `end` only. */
static size_t stretch_copy(struct vm_move *move, const struct stretch *stretch,
			   char *buffer, MPI_Offset end)
{
	size_t left = stretch->bytes, copied = 0, n;
	MPI_Offset at;

	while (left && (n = vm_view_walk_piece(&move->walk, &at, left)) != 0) {
		left -= n;
		if (at >= end)
			break;
		if ((MPI_Offset)n > end - at)
			n = (size_t)(end - at);
		memory_copy(move, buffer + (at - stretch->first), n);
		copied += n;
	}
	return copied;
}

/* Whether a write needs a lock: others may write gaps back. */
static bool put_locks(const struct vm_move *move)
{
	return !move->locked &&
	       atomic_load_explicit(&move->disk->sieves, memory_order_relaxed);
}

/* Writes what is contiguous, and counts it. */
static int put_run(struct vm_move *move, const char *from, size_t bytes,
		   MPI_Offset at)
{
	size_t moved;
	int error = vm_disk_write(move->disk, from, bytes, at, &moved);

	move->moved += moved;
	return error;
}

/* Writes the parts of a stretch one by one; walk: at its beginning. */
static int runs_put(struct vm_move *move, const struct stretch *stretch,
		    struct vm_view_walk walk, const char *buffer)
{
	MPI_Offset first = stretch->first, end = first, at;
	size_t left = stretch->bytes, n;
	int error = 0;

	while (!error && left &&
	       (n = vm_view_walk_piece(&walk, &at, left)) != 0) {
		left -= n;
		if (at != end) {
			error = put_run(move, buffer + (first - stretch->first),
					(size_t)(end - first), first);
			first = at;
		}
		end = at + (MPI_Offset)n;
	}
	if (error)
		return error;
	return put_run(move, buffer + (first - stretch->first),
		       (size_t)(end - first), first);
}

static int put_runs(struct vm_move *move, const struct stretch *stretch,
		    struct vm_view_walk walk, const char *buffer)
{
	struct vm_range range = { .first = stretch->first,
				  .end = stretch->end };
	bool locks = put_locks(move);
	int error = locks ? vm_range_take(move->disk, &range) : 0;

	if (error)
		return error;
	error = runs_put(move, stretch, walk, buffer);
	if (locks)
		vm_range_give(move->disk, &range);
	return error;
}

/* Counts the data of a stretch that lie before `end`. */
static size_t data_before(const struct stretch *stretch,
			  struct vm_view_walk walk, MPI_Offset end)
{
	size_t left = stretch->bytes, data = 0, n;
	MPI_Offset at;

	while (left && (n = vm_view_walk_piece(&walk, &at, left)) && at < end) {
		left -= n;
		data += (MPI_Offset)n < end - at ? n : (size_t)(end - at);
	}
	return data;
}

/* Reads all of a stretch, puts the data in, and writes it back. */
static int put_back(struct vm_move *move, const struct stretch *stretch,
		    char *buffer)
{
	struct vm_range range = { .first = stretch->first,
				  .end = stretch->end,
				  .alone = true };
	size_t bytes = (size_t)(stretch->end - stretch->first), moved;
	struct vm_view_walk before = move->walk;
	int error = move->locked ? 0 : vm_range_take(move->disk, &range);

	if (error)
		return error;
	error = vm_disk_read(move->disk, buffer, bytes, stretch->first, &moved);
	if (!error) {
		memset(buffer + moved, 0, bytes - moved);
		stretch_copy(move, stretch, buffer, stretch->end);
		error = vm_disk_write(move->disk, buffer, bytes, stretch->first,
				      &moved);
		move->moved += data_before(stretch, before,
					   stretch->first + (MPI_Offset)moved);
	}
	if (!move->locked)
		vm_range_give(move->disk, &range);
	return error;
}

/* Moves n bytes that are contiguous on both sides. */
static int straight(struct vm_move *move, size_t n)
{
	struct stretch stretch = { .bytes = n, .runs = 1 };
	struct vm_view_walk before = move->walk;
	MPI_Offset at;
	size_t moved;
	char *piece;
	int error;

	vm_view_walk_piece(&move->walk, &at, n);
	vm_cursor_piece(&move->memory, &piece, n);
	if (move->write) {
		stretch.first = at;
		stretch.end = at + (MPI_Offset)n;
		return put_runs(move, &stretch, before, piece);
	}
	error = vm_disk_read(move->disk, piece, n, at, &moved);
	move->moved += moved;
	if (moved < n)
		move->walk.left = 0;
	return error;
}

/* n: bytes at the beginning that are contiguous on both sides. */
static int stretch_write(struct vm_move *move, char *buffer, size_t n)
{
	bool sieve = move->sieve && move->disk->reads;
	struct stretch stretch = stretch_find(&move->walk, move->buffer_bytes,
					      sieve ? GAP_WRITE : 0);
	struct vm_view_walk before = move->walk;
	size_t bytes = (size_t)(stretch.end - stretch.first);

	if (stretch.bytes == n)
		return straight(move, n);
	if (sieve && stretch.runs > 1 &&
	    vm_move_fills(bytes, stretch.bytes, stretch.runs))
		return put_back(move, &stretch, buffer);
	stretch_copy(move, &stretch, buffer, stretch.end);
	return put_runs(move, &stretch, before, buffer);
}

static int stretch_read(struct vm_move *move, char *buffer, size_t n)
{
	struct stretch stretch = stretch_find(&move->walk, move->buffer_bytes,
					      move->sieve ? GAP_READ : 0);
	size_t bytes = (size_t)(stretch.end - stretch.first), moved;
	int error;

	if (stretch.bytes == n)
		return straight(move, n);
	error = vm_disk_read(move->disk, buffer, bytes, stretch.first, &moved);
	move->moved += stretch_copy(move, &stretch, buffer,
				    stretch.first + (MPI_Offset)moved);
	if (moved < bytes)
		move->walk.left = 0;
	return error;
}

/* How many bytes are contiguous on both sides now. */
static size_t both(const struct vm_move *move)
{
	struct vm_view_walk walk = move->walk;
	struct vm_cursor memory = move->memory;
	size_t in_file, in_memory;
	MPI_Offset at;
	char *piece;

	in_file = vm_view_walk_piece(&walk, &at, SIZE_MAX);
	in_memory = vm_cursor_piece(&memory, &piece, SIZE_MAX);
	return in_file < in_memory ? in_file : in_memory;
}

int vm_move_all(struct vm_move *move)
{
	size_t most = move->buffer_bytes;
	char *buffer = NULL;
	int error = 0;

	/* Of a file without gaps no more than the data. */
	if (!move->walk.view->layout && most > move->walk.left)
		most = move->walk.left;
	while (!error && move->walk.left) {
		size_t n = both(move);

		if (n >= STRAIGHT || n == move->walk.left) {
			error = straight(move, n);
			continue;
		}
		if (!buffer)
			buffer = vm_disk_buffer(move->disk, most);
		if (!buffer)
			error = ENOMEM;
		else if (move->write)
			error = stretch_write(move, buffer, n);
		else
			error = stretch_read(move, buffer, n);
	}
	if (buffer)
		vm_disk_buffer_put(move->disk, buffer);
	return error;
}
