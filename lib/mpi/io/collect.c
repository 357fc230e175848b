/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective accesses.
 *
 * In one process the leader goes through the file window by window: it copies what each member
 * has there to or from a buffer, and makes one system call for all that is
 * contiguous.  Data are copied once; nothing between them is written.
 */
#include "mpi/io/collect.h"

#include <errno.h>
#include <stdlib.h>

#include "mpi/comm/split.h"
#include "mpi/io/disk.h"
#include "mpi/io/exchange.h"
#include "mpi/io/window.h"

/* Where pieces are as long as this, each member moves its own; or as the second
 * number, if most of the file between the first and the last byte has no
 * data. */
#define LONG_PIECES (64 << 10)
#define LONG_APART (16 << 10)
#define APART 4
/* Of a range in several processes the data are at least this part. */
#define SPARSE 16
/* What a member says; goes to other processes. */
struct say {
	MPI_Offset first, end; /* its bytes in the file */
	size_t bytes;
	size_t piece;  /* how long a piece is, in the mean */
	size_t buffer; /* how long a window may be */
	bool joins;    /* it can take part */
};

/* A member's call. */
struct collect {
	struct vm_coll coll; /* first: meetings know this */
	struct vm_io_op *op;
	/* Set by the meeting: */
	bool together;
	struct vm_io_joint joint; /* the leader's has the operations */
};

static const struct say *say_of(const struct vm_meet *meet, size_t i)
{
	return vm_comm_coll_brought(vm_coll_of(meet, i));
}

/* Adds up what all say; whether they work together.  Several processes do not
 * where most of the file between the first and the last byte has no data. */
static bool all_join(const struct vm_meet *meet, struct vm_io_joint *sum)
{
	size_t shortest = SIZE_MAX;
	bool join = true;

	sum->most = say_of(meet, 0)->buffer;
	for (size_t i = 0; i < meet->size; i++) {
		const struct say *say = say_of(meet, i);

		join = join && say->joins;
		if (say->buffer < sum->most)
			sum->most = say->buffer;
		if (!say->bytes)
			continue;
		if (say->piece < shortest)
			shortest = say->piece;
		if (!sum->bytes || say->first < sum->first)
			sum->first = say->first;
		if (!sum->bytes || say->end > sum->end)
			sum->end = say->end;
		sum->bytes += say->bytes;
	}
	if (!sum->bytes || shortest >= LONG_PIECES ||
	    (shortest >= LONG_APART &&
	     (sum->end - sum->first) / APART > (MPI_Offset)sum->bytes))
		return false;
	if (sum->end - sum->first < (MPI_Offset)sum->most)
		sum->most = (size_t)(sum->end - sum->first);
	return join && (!meet->leaders || (sum->end - sum->first) / SPARSE <=
						  (MPI_Offset)sum->bytes);
}

static void collect_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
			 size_t last)
{
	struct vm_io_joint sum = { .bytes = 0 };
	bool together = all_join(meet, &sum);
	struct collect *leader = NULL;

	for (size_t i = 0; i < meet->size; i++) {
		struct collect *collect = (struct collect *)vm_coll_of(meet, i);

		if (!collect->coll.owner)
			continue;
		if (!leader) {
			leader = collect;
			sum.ops = collect->joint.ops;
			collect->joint = sum;
		}
		collect->together = together;
		if (together && collect->op->bytes)
			leader->joint.ops[leader->joint.count++] = collect->op;
	}
}

static const struct vm_coll_kind kind_collect = {
	.part = collect_part,
	.work = vm_comm_coll_work,
	.whole = true,
	.plain = true,
	.flow = VM_FLOW_ALL,
};

/* Where the first byte is that is not done; false: all are. */
static bool next_first(const struct vm_io_source *sources, size_t count,
		       MPI_Offset *first)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		struct vm_view_walk walk = sources[i].walk;
		MPI_Offset at;

		if (!vm_view_walk_piece(&walk, &at, 1))
			continue;
		if (!any || at < *first)
			*first = at;
		any = true;
	}
	return any;
}

/* One window; true: there is nothing to do behind it.  *end: up to where the
 * file was read or written. */
static bool window_do(struct vm_io_window *window, struct vm_io_source *sources,
		      size_t count, MPI_Offset *end, int *error)
{
	MPI_Offset whole = window->end;

	*end = whole;
	if (window->write) {
		for (size_t i = 0; i < count; i++)
			vm_io_window_copy(window, &sources[i]);
		*error = vm_io_window_write(window, end);
		return *error != 0;
	}
	for (size_t i = 0; i < count; i++)
		vm_io_window_mark(window, &sources[i]);
	*error = vm_io_window_read(window, end);
	if (*error)
		return true;
	window->end = *end;
	for (size_t i = 0; i < count; i++)
		vm_io_window_copy(window, &sources[i]);
	return *end < whole;
}

/* Says what was moved of an operation's data: what lies before `end`. */
static void op_end(struct vm_io_op *op, MPI_Offset end, int error)
{
	struct vm_view_walk walk;
	MPI_Offset at;
	size_t n;

	if (op->write && !error)
		op->moved = op->bytes;
	if (op->write && error) {
		vm_view_walk_init(&walk, &op->file->view, op->first, op->bytes);
		while ((n = vm_view_walk_before(&walk, &at, end)) != 0)
			op->moved += n;
	}
	op->error = op->moved < op->bytes ? error : 0;
}

/* What the leader of a single process does for all. */
static void lead(const struct vm_io_joint *joint)
{
	struct vm_io_window window = { .disk = joint->file->disk,
				       .write = joint->write,
				       .sieve = joint->sieve,
				       .most = joint->most };
	struct vm_io_source *sources = malloc(joint->count * sizeof(*sources));
	int error = vm_io_window_open(&window);
	MPI_Offset first, end = 0;
	bool over = false;

	if (!sources)
		error = ENOMEM;
	for (size_t i = 0; !error && i < joint->count; i++) {
		struct vm_io_op *op = joint->ops[i];

		sources[i].op = op;
		vm_view_walk_init(&sources[i].walk, &op->file->view, op->first,
				  op->bytes);
		vm_cursor_init(&sources[i].memory, &op->data);
	}
	while (!error && !over && next_first(sources, joint->count, &first)) {
		vm_io_window_go(&window, first,
				first + (MPI_Offset)joint->most);
		over = window_do(&window, sources, joint->count, &end, &error);
	}
	for (size_t i = 0; i < joint->count; i++)
		op_end(joint->ops[i], end, error);
	vm_io_window_close(&window);
	free(sources);
}

static struct say say_make(const struct vm_io_op *op, int rc)
{
	const struct vm_file *file = op->file;
	const struct vm_view *view = &file->view;
	uint8_t hint = op->write ? file->hints.cb_write : file->hints.cb_read;
	struct say say = { .bytes = rc ? 0 : op->bytes,
			   .buffer = (size_t)file->hints.cb_buffer };

	say.joins = hint != VM_IO_DISABLE && !view->rep && !file->atomic &&
		    view->sorted && !file->disk->stream;
	if (!say.bytes)
		return say;
	say.first = vm_view_place(view, op->first);
	say.end =
		vm_view_place(view, op->first + (MPI_Offset)op->bytes - 1) + 1;
	say.piece = op->bytes;
	if (view->layout)
		say.piece = view->layout->bytes / vm_view_pieces(view);
	if (hint == VM_IO_ENABLE)
		say.piece = 0;
	return say;
}

/* The others wait until the leader has done it. */
static int barrier(struct vm_call *call, enum vm_call_id as,
		   struct vm_file *file)
{
	struct vm_coll coll;

	vm_coll_init(&coll, &vm_coll_barrier, call, &file->comm);
	coll.as = (uint16_t)as;
	return vm_coll_run(call, &coll);
}

/* A call with an offset and one without meet each other, as in other MPIs:
 * PnetCDF relies on it. */
static enum vm_call_id met_as(enum vm_call_id id)
{
	static const enum vm_call_id pairs[][2] = {
		{ VM_CALL_File_read_at_all, VM_CALL_File_read_all },
		{ VM_CALL_File_write_at_all, VM_CALL_File_write_all },
		{ VM_CALL_File_iread_at_all, VM_CALL_File_iread_all },
		{ VM_CALL_File_iwrite_at_all, VM_CALL_File_iwrite_all },
		{ VM_CALL_File_read_at_all_begin, VM_CALL_File_read_all_begin },
		{ VM_CALL_File_write_at_all_begin,
		  VM_CALL_File_write_all_begin },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (pairs[i][0] == id)
			return pairs[i][1];
	return id;
}

int vm_io_collect(struct vm_call *call, enum vm_call_id as, struct vm_io_op *op,
		  int rc)
{
	struct vm_file *file = op->file;
	struct say say = say_make(op, rc);
	struct collect collect = { .op = op };
	struct vm_io_joint *joint = &collect.joint;
	bool leads = file->leads;
	int met, led = 0;

	if (file->comm.size == 1) {
		if (rc == 0)
			vm_io_op_do(call, op);
		return rc;
	}
	if (rc != 0)
		op->bytes = 0;
	if (leads)
		joint->ops =
			malloc((size_t)file->comm.size * sizeof(*joint->ops));
	if (leads && !joint->ops)
		say.joins = false;
	vm_comm_coll_init(&collect.coll, &kind_collect, call, &file->comm, &say,
			  sizeof(say));
	collect.coll.as = (uint16_t)met_as(as);
	met = vm_coll_run(call, &collect.coll);
	joint->file = file;
	joint->write = op->write;
	joint->sieve = op->write && vm_io_may_sieve(op);
	if (met == 0 && !collect.together && rc == 0)
		vm_io_op_do(call, op);
	if (met == 0 && collect.together && leads && file->disk->alone)
		lead(joint);
	else if (met == 0 && collect.together && leads)
		led = vm_io_exchange(call, joint);
	if (met == 0 && collect.together)
		met = barrier(call, met_as(as), file);
	free(joint->ops);
	if (led)
		met = led;
	return rc ? rc : met;
}
