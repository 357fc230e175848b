/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective accesses within a process.
 *
 * The leader goes through the file window by window: it copies what each member
 * has there to or from a buffer, and makes one system call for all that is
 * contiguous.  Data are copied once; nothing between them is written.
 */
#include "mpi/io/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/rank/state.h"
#include "mpi/comm/split.h"
#include "mpi/io/cover.h"
#include "mpi/io/disk.h"
#include "mpi/io/move.h"
#include "mpi/io/range.h"

/* Where pieces are as long as this, each member moves its own. */
#define LONG_PIECES (256 << 10)
/* Gaps of so many bytes are read along. */
#define GAP_READ (16 << 10)
/* Gaps between data of so few bytes, in the mean, are written back. */
#define SHORT 512

/* What a member says; goes to other processes. */
struct say {
	MPI_Offset first, end; /* its bytes in the file */
	size_t bytes;
	size_t piece; /* how long a piece is, in the mean */
	bool joins;   /* it can take part */
};

/* A member's call. */
struct collect {
	struct vm_coll coll; /* first: meetings know this */
	struct vm_io_op *op;
	/* Set by the meeting: */
	bool together;
	MPI_Offset first, end; /* of all */
	size_t bytes;
	struct vm_io_op **ops; /* the leader's: those of this process */
	size_t count;
};

static const struct say *say_of(const struct vm_meet *meet, size_t i)
{
	return vm_comm_coll_brought(vm_coll_of(meet, i));
}

/* Adds up what all say; whether they work together. */
static bool all_join(const struct vm_meet *meet, struct collect *sum)
{
	bool join = true, longer = true;

	for (size_t i = 0; i < meet->size; i++) {
		const struct say *say = say_of(meet, i);

		join = join && say->joins;
		if (!say->bytes)
			continue;
		longer = longer && say->piece >= LONG_PIECES;
		if (!sum->bytes || say->first < sum->first)
			sum->first = say->first;
		if (!sum->bytes || say->end > sum->end)
			sum->end = say->end;
		sum->bytes += say->bytes;
	}
	return join && !longer && sum->bytes;
}

static void collect_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
			 size_t last)
{
	struct collect sum = { .bytes = 0 }, *leader = NULL;
	bool together = all_join(meet, &sum);

	for (size_t i = 0; i < meet->size; i++) {
		struct collect *collect = (struct collect *)vm_coll_of(meet, i);

		if (!collect->coll.owner)
			continue;
		if (!leader)
			leader = collect;
		collect->together = together;
		collect->first = sum.first;
		collect->end = sum.end;
		collect->bytes = sum.bytes;
		if (together && collect->op->bytes)
			leader->ops[leader->count++] = collect->op;
	}
}

static const struct vm_coll_kind kind_collect = {
	.part = collect_part,
	.work = vm_comm_coll_work,
	.whole = true,
	.flow = VM_FLOW_ALL,
};

/* One member's operation, as far as it is done. */
struct piece_source {
	struct vm_io_op *op;
	struct vm_view_walk walk;
	struct vm_cursor memory;
};

struct window {
	struct vm_disk *disk;
	bool write, sieve;
	size_t most; /* bytes */
	char *buffer, *old;
	uint64_t *bits;
	struct piece_source *members;
	size_t count;
	MPI_Offset first, end; /* where it is */
};

/* The next piece of a walk that begins before `end`, up to there; 0: none. */
static size_t piece_before(struct vm_view_walk *walk, MPI_Offset *at,
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

/* Where the first byte is that is not done; false: all are. */
static bool next_first(const struct window *window, MPI_Offset *first)
{
	bool any = false;

	for (size_t i = 0; i < window->count; i++) {
		struct vm_view_walk walk = window->members[i].walk;
		MPI_Offset at;

		if (!vm_view_walk_piece(&walk, &at, 1))
			continue;
		if (!any || at < *first)
			*first = at;
		any = true;
	}
	return any;
}

static void memory_copy(struct piece_source *member, char *buffer, size_t n,
			bool write)
{
	size_t bytes;
	char *piece;

	while (n && (bytes = vm_cursor_piece(&member->memory, &piece, n))) {
		if (write)
			memcpy(buffer, piece, bytes);
		else
			memcpy(piece, buffer, bytes);
		buffer += bytes;
		n -= bytes;
	}
}

/* Copies what a member has in the window. */
static void member_copy(struct window *window, struct piece_source *member)
{
	MPI_Offset at;
	size_t n;

	while ((n = piece_before(&member->walk, &at, window->end)) != 0) {
		size_t place = (size_t)(at - window->first);

		memory_copy(member, window->buffer + place, n, window->write);
		if (window->write)
			vm_cover_set(window->bits, place, n);
		else
			member->op->moved += n;
	}
}

/* Marks what a member has in the window, which is to be read. */
static void member_mark(struct window *window,
			const struct piece_source *member)
{
	struct vm_view_walk walk = member->walk;
	MPI_Offset at;
	size_t n;

	while ((n = piece_before(&walk, &at, window->end)) != 0)
		vm_cover_set(window->bits, (size_t)(at - window->first), n);
}

static void bits_clear(struct window *window)
{
	size_t bytes = (size_t)(window->end - window->first);

	memset(window->bits, 0, vm_cover_words(bytes) * sizeof(*window->bits));
}

/* Reads what the bits say, gaps that are short included; *end is the end of the
 * file, if that comes before the window's. */
static int window_read(struct window *window, MPI_Offset *end)
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
static size_t runs_count(const struct window *window, size_t *first,
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
static void gaps_fill(struct window *window, size_t first, size_t end)
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
static int write_back(struct window *window, size_t first, size_t end,
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

/* Writes the data; *end is behind what was written. */
static int window_write(struct window *window, MPI_Offset *end)
{
	size_t bytes = (size_t)(window->end - window->first);
	size_t at = 0, n, moved, first = 0, last = 0, data;
	size_t runs = runs_count(window, &first, &last, &data);
	int error = 0;

	if (runs > 1 && window->sieve && data / runs < SHORT) {
		error = write_back(window, first, last, &moved);
		*end = window->first + (MPI_Offset)(first + moved);
		return error;
	}
	while (!error && (n = vm_cover_run(window->bits, &at, bytes)) != 0) {
		error = vm_move_put(window->disk, window->buffer + at, n,
				    window->first + (MPI_Offset)at, &moved);
		*end = window->first + (MPI_Offset)(at + moved);
		at += n;
	}
	return error;
}

/* One window; true: there is nothing to do behind it.  *end: up to where the
 * file was read or written. */
static bool window_do(struct window *window, MPI_Offset *end, int *error)
{
	MPI_Offset whole = window->end;

	*end = whole;
	bits_clear(window);
	if (window->write) {
		for (size_t i = 0; i < window->count; i++)
			member_copy(window, &window->members[i]);
		*error = window_write(window, end);
		return *error != 0;
	}
	for (size_t i = 0; i < window->count; i++)
		member_mark(window, &window->members[i]);
	*error = window_read(window, end);
	if (*error)
		return true;
	window->end = *end;
	for (size_t i = 0; i < window->count; i++)
		member_copy(window, &window->members[i]);
	return *end < whole;
}

/* Says to a member what was moved of its data: what lies before `end`. */
static void member_end(struct piece_source *member, MPI_Offset end, int error)
{
	struct vm_io_op *op = member->op;
	struct vm_view_walk walk;
	MPI_Offset at;
	size_t n;

	if (!op->write) {
		op->error = op->moved < op->bytes ? error : 0;
		return;
	}
	op->moved = op->bytes;
	if (!error)
		return;
	op->moved = 0;
	vm_view_walk_init(&walk, &op->file->view, op->first, op->bytes);
	while ((n = piece_before(&walk, &at, end)) != 0)
		op->moved += n;
	op->error = op->moved < op->bytes ? error : 0;
}

static int window_open(struct window *window, const struct collect *collect,
		       struct vm_file *file)
{
	size_t bytes = (size_t)(collect->end - collect->first);

	window->disk = file->disk;
	window->count = collect->count;
	window->most = (size_t)file->hints.cb_buffer;
	if (window->most > bytes)
		window->most = bytes;
	window->buffer = vm_disk_buffer(file->disk, window->most);
	window->bits =
		malloc(vm_cover_words(window->most) * sizeof(*window->bits));
	window->members = malloc(collect->count * sizeof(*window->members));
	if (window->sieve)
		window->old = vm_disk_buffer(file->disk, window->most);
	if (!window->buffer || !window->bits || !window->members ||
	    (window->sieve && !window->old))
		return ENOMEM;
	for (size_t i = 0; i < collect->count; i++) {
		struct vm_io_op *op = collect->ops[i];
		struct piece_source *member = &window->members[i];

		member->op = op;
		vm_view_walk_init(&member->walk, &op->file->view, op->first,
				  op->bytes);
		vm_cursor_init(&member->memory, &op->data);
	}
	return 0;
}

static void window_close(struct window *window)
{
	if (window->old)
		vm_disk_buffer_put(window->disk, window->old);
	if (window->buffer)
		vm_disk_buffer_put(window->disk, window->buffer);
	free(window->bits);
	free(window->members);
}

/* What the leader does for all. */
static void lead(const struct collect *collect, struct vm_file *file,
		 bool write, bool sieve)
{
	struct window window = { .write = write, .sieve = sieve };
	int error = window_open(&window, collect, file);
	MPI_Offset end = 0;
	bool over = false;

	while (!error && !over && next_first(&window, &window.first)) {
		window.end = window.first + (MPI_Offset)window.most;
		over = window_do(&window, &end, &error);
	}
	for (size_t i = 0; i < collect->count; i++) {
		struct piece_source none = { .op = collect->ops[i] };

		member_end(window.members ? &window.members[i] : &none, end,
			   error);
	}
	window_close(&window);
}

/* How long the pieces of an operation are, in the mean. */
static size_t piece_bytes(const struct vm_io_op *op)
{
	const struct vm_layout *layout = op->file->view.layout;
	size_t pieces = 0;

	if (!layout)
		return op->bytes;
	for (size_t r = 0; r < layout->run_count; r++)
		pieces += layout->runs[r].count;
	return layout->bytes / pieces;
}

static struct say say_make(const struct vm_io_op *op, int rc)
{
	const struct vm_file *file = op->file;
	const struct vm_view *view = &file->view;
	uint8_t hint = op->write ? file->hints.cb_write : file->hints.cb_read;
	struct say say = { .bytes = rc ? 0 : op->bytes };

	say.joins = hint != VM_IO_DISABLE && !view->rep && !file->atomic &&
		    view->sorted && !file->disk->stream;
	if (!say.bytes)
		return say;
	say.first = vm_view_place(view, op->first);
	say.end =
		vm_view_place(view, op->first + (MPI_Offset)op->bytes - 1) + 1;
	say.piece = hint == VM_IO_ENABLE ? 0 : piece_bytes(op);
	return say;
}

/* Whether no member before this one is in this process. */
static bool is_leader(const struct vm_comm *comm)
{
	for (int i = 0; i < comm->rank; i++)
		if (vm_rank_here(comm->ranks[i]))
			return false;
	return true;
}

/* The others wait until the leader has done it. */
static int barrier(struct vm_call *call, struct vm_file *file)
{
	struct vm_coll coll;

	vm_coll_init(&coll, &vm_coll_barrier, call, &file->comm);
	return vm_coll_run(call, &coll);
}

int vm_io_collect(struct vm_call *call, enum vm_call_id as, struct vm_io_op *op,
		  int rc)
{
	struct vm_file *file = op->file;
	struct say say = say_make(op, rc);
	struct collect collect = { .op = op };
	enum vm_call_id id = call->id;
	bool leads = is_leader(&file->comm);
	int met;

	if (file->comm.size == 1) {
		if (rc == 0)
			vm_io_op_do(call, op);
		return rc;
	}
	if (rc != 0)
		op->bytes = 0;
	if (leads)
		collect.ops =
			malloc((size_t)file->comm.size * sizeof(*collect.ops));
	if (leads && !collect.ops)
		say.joins = false;
	call->id = as;
	vm_comm_coll_init(&collect.coll, &kind_collect, call, &file->comm, &say,
			  sizeof(say));
	met = vm_coll_run(call, &collect.coll);
	if (met == 0 && !collect.together && rc == 0)
		vm_io_op_do(call, op);
	if (met == 0 && collect.together && leads)
		lead(&collect, file, op->write,
		     op->write && vm_io_may_sieve(op));
	if (met == 0 && collect.together)
		met = barrier(call, file);
	call->id = id;
	free(collect.ops);
	return rc ? rc : met;
}
