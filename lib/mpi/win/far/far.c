/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of an access to a member of another process.
 */
#include "mpi/win/far/far.h"

#include <stdlib.h>

#include "core/local/engine.h"
#include "mpi/type/basic.h"
#include "mpi/win/far/ask.h"
#include "mpi/win/far/move.h"
#include "mpi/win/far/rmw.h"
#include "mpi/win/far/slot.h"

/* Packets whose answers may be under way at a time. */
#define ANSWERS_MOST 16
/* Bytes that an origin sends before it asks whether they have come, and how
 * often it has asked in vain before it waits. */
#define UNASKED_MOST (256 * 1024)
#define ASKS_MOST 2

int vm_far_open(struct vm_win *win)
{
	struct vm_window *window = win->window;

	window->far = calloc((size_t)win->size, sizeof(struct vm_window_far));
	if (!window->far ||
	    !vm_window_publish(window, win->comm.chan->group, vm_far_take))
		return MPI_ERR_NO_MEM;
	return 0;
}

static int send_plain(struct vm_win *win, int rank, enum vm_far_kind what,
		      bool flag)
{
	struct vm_window_head head = { .what = (uint8_t)what, .flag = flag };

	return vm_far_send(win, rank, &head, NULL, 0);
}

/* Locks and posts. */

int vm_far_lock_wait(struct vm_win *win, int rank, bool exclusive)
{
	struct vm_window_head head = { .what = VM_FAR_lock, .flag = exclusive };
	struct vm_far_question question;
	int rc;

	vm_far_question_open(win->window, &question, NULL);
	vm_far_question_asks(win->window, &question);
	head.sequence = question.sequence;
	rc = vm_far_send(win, rank, &head, NULL, 0);
	return vm_far_question_end(win->window, &question, rc);
}

int vm_far_unlock(struct vm_win *win, int rank, bool exclusive)
{
	return send_plain(win, rank, VM_FAR_unlock, exclusive);
}

int vm_far_grant(struct vm_win *win, int rank)
{
	return send_plain(win, rank, VM_FAR_grant, false);
}

int vm_far_post(struct vm_win *win, int rank)
{
	return send_plain(win, rank, VM_FAR_post, false);
}

int vm_far_complete(struct vm_win *win, int rank)
{
	return send_plain(win, rank, VM_FAR_complete, false);
}

int vm_far_wake(struct vm_win *win, int rank)
{
	return send_plain(win, rank, VM_FAR_wake, false);
}

/* Of more bytes than this, a process of this host takes the begin while the rest
 * is put together: there are at least so many packets, if these are no shorter. */
#define PIECE_MIN 4096
#define PIECES 4

/* The most elements of a packet, in bytes, of an access of so many. */
static size_t data_most(const struct vm_win *win, int rank, size_t bytes)
{
	size_t most = vm_window_packet_bytes(), piece = bytes / PIECES;

	most = (most < VM_BUFFER_MAX ? most : VM_BUFFER_MAX) - VM_FAR_RUN_BYTES;
	if (!vm_far_told(win, rank) || piece > most)
		return most;
	return piece > PIECE_MIN ? piece : PIECE_MIN;
}

/* Rows of up to so many bytes need no memory but the stack. */
#define FEW_BYTES 1024

/* A packet that is being filled: room for the runs, then the data. */
struct filling {
	struct vm_win *win;
	int rank;
	struct vm_window_head head;
	struct vm_far_question *question; /* or NULL */
	struct vm_far_run runs[VM_FAR_RUNS];
	size_t element;
	uintptr_t origin;    /* vm_far_origin() */
	char *buffer, *heap; /* heap: NULL, the buffer is `few` */
	size_t room, used;   /* of elements, in the packet or in its answer */
	bool sends;	     /* the elements are in the packet */
	_Alignas(8) char few[VM_FAR_RUN_BYTES + FEW_BYTES];
};

static int filling_open(struct filling *f, struct vm_access *a, size_t bytes)
{
	f->win = a->win;
	f->rank = a->rank;
	f->origin = vm_far_origin(a->win->window->team, (size_t)a->rank);
	f->used = 0;
	f->question = NULL;
	f->room = data_most(a->win, a->rank, bytes);
	f->heap = NULL;
	f->buffer = f->few;
	if (bytes <= FEW_BYTES)
		return 0;
	f->buffer = f->heap = malloc(VM_FAR_RUN_BYTES + f->room);
	return f->heap ? 0 : MPI_ERR_NO_MEM;
}

/* So many bytes have been sent that nothing answers: waits where too many have
 * been. */
static int sent(struct vm_win *win, int rank, size_t bytes)
{
	struct vm_window_far *far = vm_far_of(win, rank);
	size_t unasked = vm_win_load(far->unasked) + bytes;
	int rc;

	vm_win_store(far->dirty, true);
	vm_win_store(far->unasked, unasked);
	if (unasked < UNASKED_MOST)
		return 0;
	rc = vm_far_ask(win, rank);
	return rc == 0 ? vm_far_ask_wait(win, rank, ASKS_MOST) : rc;
}

/* Sends it; *bytes is its length. */
static int filling_go(struct filling *f, size_t *bytes)
{
	size_t runs = f->head.runs * sizeof(f->runs[0]);
	char *data = f->buffer + VM_FAR_RUN_BYTES;

	*bytes = f->sends ? f->used : 0;
	if (f->head.runs == 1)
		return vm_far_send_row(f->win, f->rank, &f->head, f->runs, data,
				       *bytes);
	memcpy(data - runs, f->runs, runs);
	*bytes += runs;
	return vm_far_send(f->win, f->rank, &f->head, data - runs, *bytes);
}

/* Sends what is in it, and waits where too much is under way. */
static int filling_send(struct filling *f)
{
	struct vm_window *window = f->win->window;
	size_t bytes;
	int rc;

	if (!f->head.runs)
		return 0;
	if (f->question) {
		f->head.sequence = f->question->sequence;
		vm_far_question_asks(window, f->question);
	}
	rc = filling_go(f, &bytes);
	f->head.runs = 0;
	f->head.flag = 0;
	f->used = 0;
	if (rc == 0 && f->question)
		rc = vm_far_question_wait(window, f->question, ANSWERS_MOST);
	if (f->question)
		return rc;
	return rc == 0 ? sent(f->win, f->rank, bytes) : rc;
}

/* Adds elements of a row, as many as fit; from: theirs, or NULL.  Returns how
 * many. */
static size_t filling_add(struct filling *f, const char *at, const char *from,
			  size_t n)
{
	size_t most = (f->room - f->used) / f->element;

	if (n > most)
		n = most;
	f->runs[f->head.runs++] =
		(struct vm_far_run){ (uintptr_t)at - f->origin, n };
	if (from)
		memcpy(f->buffer + VM_FAR_RUN_BYTES + f->used, from,
		       n * f->element);
	f->used += n * f->element;
	return n;
}

static bool filling_full(const struct filling *f)
{
	return f->head.runs == VM_FAR_RUNS || f->room - f->used < f->element;
}

/* Begins and ends to wait for answers to an access, which go to `into`: a call
 * that has a request waits until they are there. */
static int answers_open(struct vm_access *a, struct vm_far_question **question,
			struct vm_far_question *own, struct vm_rows *into)
{
	if (!a->asked)
		return vm_far_later_open(a, question, into);
	vm_far_question_open(a->win->window, own, into);
	*question = own;
	return 0;
}

static int answers_end(struct vm_access *a, struct vm_far_question *question,
		       int rc)
{
	if (a->asked)
		return vm_far_question_end(a->win->window, question, rc);
	vm_far_later_sent(a->win->window, question);
	return rc;
}

/*
 * Sends rows of the target's, with those of `from` if there are any; answers go
 * to `into` if there is that.
 */
static int rows_send(struct vm_access *a, struct vm_window_head head,
		     struct vm_rows *target, struct vm_rows *from,
		     struct vm_rows *into)
{
	struct vm_far_question question;
	size_t element = (size_t)target->basic->extent, n;
	struct filling f;
	int rc = filling_open(&f, a, target->cursor.left + element);

	if (rc == 0 && into)
		rc = answers_open(a, &f.question, &question, into);
	f.head = head;
	f.head.type = (uint8_t)target->basic->value;
	f.element = element;
	f.sends = from != NULL;
	while (rc == 0 && (n = vm_rows_next(target)) != 0) {
		if (from && vm_rows_next(from) < n)
			n = from->have;
		if (!n)
			break;
		n = filling_add(&f, target->at, from ? from->at : NULL, n);
		vm_rows_skip(target, n);
		if (from)
			vm_rows_skip(from, n);
		if (filling_full(&f))
			rc = filling_send(&f);
	}
	if (rc == 0)
		rc = filling_send(&f);
	if (f.question)
		rc = answers_end(a, f.question, rc);
	free(f.heap);
	return rc;
}

/* One row of elements of a predefined type at a target. */
struct far_row {
	struct vm_win *win;
	int rank;
	const struct vm_type *basic;
	struct vm_far_run run;
};

static struct far_row row_of(struct vm_win *win, int rank,
			     const struct vm_type *basic, const char *place,
			     size_t count)
{
	uintptr_t origin = vm_far_origin(win->window->team, (size_t)rank);

	return (struct far_row){
		win, rank, basic, { (uintptr_t)place - origin, count }
	};
}

/* The place, or the question, for data that go to `into`. */
static int row_answer(const struct far_row *row, struct vm_window_head *head,
		      const struct vm_data *into)
{
	struct vm_rows rows;

	if (vm_far_slot_fits(row->win, row->rank, into)) {
		head->flag = VM_FAR_TELL;
		return vm_far_slot_take(row->win, row->rank, &head->sequence,
					into);
	}
	vm_rows_init(&rows, row->basic, *into);
	return vm_far_later_one(row->win, row->rank, &head->sequence, &rows);
}

/*
 * The shortest way: a packet has all of a row, and data that lie behind each
 * other, and go to `into` if they are answered.
 */
static int row_send(const struct far_row *row, struct vm_window_head head,
		    const void *data, size_t bytes, const struct vm_data *into)
{
	struct vm_win *win = row->win;
	int rc = 0;

	head.type = (uint8_t)row->basic->value;
	if (into)
		rc = row_answer(row, &head, into);
	else if (!vm_far_dirty(vm_far_of(win, row->rank)) &&
		 vm_far_told(win, row->rank))
		return vm_far_ask_along(win, row->rank, &head, &row->run, data,
					bytes);
	if (rc == 0)
		rc = vm_far_send_row(win, row->rank, &head, &row->run, data,
				     bytes);
	return rc == 0 && !into ? sent(win, row->rank, bytes) : rc;
}

/* The most bytes that return in pieces, and the shortest piece of those. */
#define BACK_MOST (16 << 10)
#define BACK_MIN (1 << 10)

static size_t back_piece(size_t bytes)
{
	return bytes < 2 * VM_WINDOW_REPLY_BYTES ? BACK_MIN :
						   VM_WINDOW_REPLY_BYTES;
}

/*
 * The same of what the target stores where the caller looks: a place has room for
 * a few of the elements, so a longer row goes in pieces.  The first ones are on
 * their way back while the last ones are sent.
 */
static int row_send_back(const struct far_row *all, struct vm_window_head head,
			 const char *data, size_t bytes, struct vm_data into)
{
	size_t size = all->basic->size, most = back_piece(into.bytes) / size;
	struct far_row row = *all;
	int rc = 0;

	for (size_t left = all->run.count; rc == 0 && left;
	     left -= row.run.count) {
		row.run.count = left < most ? left : most;
		into.bytes = row.run.count * size;
		rc = row_send(&row, head, data, bytes ? into.bytes : 0, &into);
		row.run.at += into.bytes;
		into.addr = (char *)into.addr + into.bytes;
		data += bytes ? into.bytes : 0;
	}
	return rc;
}

/* Whether so many bytes that lie behind each other go as a row; back: they are
 * updated, and what is there returns.  Gets follow each other faster whole. */
static bool is_row(const struct vm_win *win, int rank, size_t bytes, bool back)
{
	return (back && bytes <= BACK_MOST && vm_far_slots_are(win, rank)) ||
	       bytes <= data_most(win, rank, bytes);
}

/* Sends a row in one piece, or in several. */
static int row_go(const struct far_row *row, struct vm_window_head head,
		  const void *data, size_t bytes, const struct vm_data *into)
{
	if (into && into->bytes > BACK_MIN &&
	    vm_far_slots_are(row->win, row->rank))
		return row_send_back(row, head, data, bytes, *into);
	return row_send(row, head, data, bytes, into);
}

/* Describes what the target has said. */
static int explain(struct vm_call *call, int rank, int rc)
{
	if (rc == -VMPI_EINVAL)
		return vm_error(call, MPI_ERR_RMA_RANGE,
				"rank %d has no memory there", rank);
	if (rc == MPI_ERR_RMA_RANGE)
		return vm_error(call, rc,
				"rank %d has not attached all of the memory",
				rank);
	return rc;
}

static struct vm_data target_data(const struct vm_access *a)
{
	return vm_type_data(a->target.type, a->place, (size_t)a->target.count);
}

/* A put or get of bytes that one packet has room for. */
static int bytes_send(struct vm_win *win, int rank, void *buf,
		      const char *place, size_t bytes, bool gets)
{
	struct vm_window_head head = { .what = gets ? VM_FAR_get : VM_FAR_put };
	struct far_row row =
		row_of(win, rank, vm_type_get(MPI_BYTE), place, bytes);
	struct vm_data into = vm_data_bytes(buf, bytes);

	return row_send(&row, head, buf, gets ? 0 : bytes, gets ? &into : NULL);
}

static int copy(struct vm_access *a, const struct vm_data *there,
		const struct vm_data *own)
{
	struct vm_window_head head = { .what = a->gets ? VM_FAR_get :
							 VM_FAR_put };
	const struct vm_type *byte = vm_type_get(MPI_BYTE);
	struct vm_rows target, origin;

	if (!there->layout && !own->layout &&
	    is_row(a->win, a->rank, there->bytes, false) &&
	    !(a->asked && a->gets))
		return bytes_send(a->win, a->rank, own->addr, there->addr,
				  there->bytes, a->gets);
	vm_rows_init(&origin, byte, *own);
	vm_rows_init(&target, byte, *there);
	return rows_send(a, head, &target, a->gets ? NULL : &origin,
			 a->gets ? &origin : NULL);
}

int vm_far_bytes(struct vm_win *win, int rank, void *buf, char *place,
		 size_t bytes, bool gets)
{
	struct vm_access a = { .win = win, .rank = rank, .gets = gets };
	struct vm_data there, own;

	if (bytes <= data_most(win, rank, bytes))
		return bytes_send(win, rank, buf, place, bytes, gets);
	vm_data_set_bytes(&there, place, bytes);
	vm_data_set_bytes(&own, buf, bytes);
	return copy(&a, &there, &own);
}

int vm_far_quick(struct vm_call *call, struct vm_win *win, int rank, void *buf,
		 char *place, size_t bytes, bool gets)
{
	int rc = -VMPI_ENOTSUP;

	if (vm_far_move_wanted(win, rank, bytes, gets, false))
		rc = vm_far_move(call, win, rank, buf, place, bytes, !gets,
				 false);
	if (rc == -VMPI_ENOTSUP)
		rc = vm_far_bytes(win, rank, buf, place, bytes, gets);
	return explain(call, rank, rc);
}

/* Moves data that are contiguous on both sides through the kernel, if that is
 * wanted and to be had; else -VMPI_ENOTSUP. */
static int move(struct vm_call *call, const struct vm_access *a,
		const struct vm_data *there, const struct vm_data *own)
{
	struct vm_cursor target, origin;
	char *from, *to;

	if (!vm_far_move_wanted(a->win, a->rank, there->bytes, a->gets,
				a->asked))
		return -VMPI_ENOTSUP;
	vm_cursor_init(&target, there);
	vm_cursor_init(&origin, own);
	if (vm_cursor_piece(&target, &to, SIZE_MAX) < there->bytes ||
	    vm_cursor_piece(&origin, &from, SIZE_MAX) < there->bytes)
		return -VMPI_ENOTSUP;
	return vm_far_move(call, a->win, a->rank, from, to, there->bytes,
			   !a->gets, a->asked);
}

int vm_far_copy(struct vm_call *call, struct vm_access *a)
{
	struct vm_data data = target_data(a),
		       own = vm_win_side_data(&a->origin);
	int rc;

	/* Not more than the other side has. */
	if (own.bytes < data.bytes)
		data.bytes = own.bytes;
	rc = move(call, a, &data, &own);
	if (rc == -VMPI_ENOTSUP)
		rc = copy(a, &data, &own);
	return explain(call, a->rank, rc);
}

static uint8_t op_number(MPI_Op op)
{
	return (uint8_t)((uintptr_t)op - (uintptr_t)MPI_OP_NULL);
}

/* The data of the sides of an update; own, old: without bytes if not used. */
struct sides {
	struct vm_data there, own, old;
	bool reads, gets;
};

/* Whether a side has as many bytes as the target, behind each other; not more. */
static bool fits(struct vm_data *side, const struct vm_data *there)
{
	if (side->layout || side->bytes < there->bytes)
		return false;
	side->bytes = there->bytes;
	return true;
}

/* Whether all sides are rows of elements. */
static bool are_rows(const struct vm_access *a, struct sides *sides)
{
	const struct vm_data *there = &sides->there;

	return !there->layout &&
	       a->basic->extent == (MPI_Count)a->basic->size &&
	       (!sides->reads || fits(&sides->own, there)) &&
	       (!sides->gets || fits(&sides->old, there));
}

/* What the kernel has not done of the rows. */
static void leave(struct vm_data *side, size_t bytes)
{
	side->addr = (char *)side->addr + (side->bytes - bytes);
	side->bytes = bytes;
}

/* Updates rows by the kernel, if that is wanted and to be had; else -VMPI_ENOTSUP,
 * and *sides are what is left. */
static int rmw(const struct vm_access *a, struct sides *sides)
{
	size_t size = a->basic->size, bytes = sides->there.bytes;
	struct vm_far_rmw rmw = {
		.op = a->how,
		.type = a->basic,
		.target = sides->there.addr,
		.origin = sides->reads ? sides->own.addr : NULL,
		.result = sides->gets ? sides->old.addr : NULL,
		.count = bytes / size
	};
	int rc;

	if (a->asked || !vm_far_rmw_wanted(a->win, a->rank, bytes, sides->gets))
		return -VMPI_ENOTSUP;
	rc = vm_far_rmw_go(a->win, a->rank, &rmw);
	if (rc != -VMPI_ENOTSUP)
		return rc;
	leave(&sides->there, rmw.count * size);
	if (sides->reads)
		leave(&sides->own, rmw.count * size);
	if (sides->gets)
		leave(&sides->old, rmw.count * size);
	return rc;
}

/* Updates any elements by packets. */
static int update(struct vm_access *a, const struct sides *sides, bool rows)
{
	struct vm_window_head head = { .what = sides->gets ? VM_FAR_fetch :
							     VM_FAR_update,
				       .op = op_number(a->op) };
	struct vm_rows target, origin, result;
	struct far_row row;

	if (rows && !(a->asked && sides->gets) &&
	    is_row(a->win, a->rank, sides->there.bytes, sides->gets)) {
		row = row_of(a->win, a->rank, a->basic, sides->there.addr,
			     sides->there.bytes / a->basic->size);
		return row_go(&row, head, sides->own.addr,
			      sides->reads ? sides->own.bytes : 0,
			      sides->gets ? &sides->old : NULL);
	}
	vm_rows_init(&target, a->basic, sides->there);
	if (sides->gets)
		vm_rows_init(&result, a->basic, sides->old);
	if (sides->reads)
		vm_rows_init(&origin, a->basic, sides->own);
	return rows_send(a, head, &target, sides->reads ? &origin : NULL,
			 sides->gets ? &result : NULL);
}

int vm_far_update(struct vm_call *call, struct vm_access *a)
{
	struct sides sides = { .there = target_data(a),
			       .reads = a->op != MPI_NO_OP,
			       .gets = a->result.datatype != NULL };
	bool rows;
	int rc = -VMPI_ENOTSUP;

	if (sides.reads)
		sides.own = vm_win_side_data(&a->origin);
	if (sides.gets)
		sides.old = vm_win_side_data(&a->result);
	rows = are_rows(a, &sides);
	if (rows)
		rc = rmw(a, &sides);
	if (rc == -VMPI_ENOTSUP)
		rc = update(a, &sides, rows);
	return explain(call, a->rank, rc);
}

int vm_far_swap(struct vm_call *call, struct vm_access *a, const void *compare)
{
	struct vm_window_head head = { .what = VM_FAR_swap };
	struct far_row row = row_of(a->win, a->rank, a->basic, a->place, 1);
	size_t size = a->basic->size;
	struct vm_data into = vm_data_bytes(a->result.buf, size);
	char values[32];

	memcpy(values, a->origin.buf, size);
	memcpy(values + size, compare, size);
	return explain(call, a->rank,
		       row_send(&row, head, values, 2 * size, &into));
}
