/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of an access to a member of another process.
 */
#include "mpi/win/far.h"

#include <stdlib.h>

#include "core/local/engine.h"
#include "mpi/type/basic.h"
#include "mpi/win/far_ask.h"

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

/* Accesses up to this size need no memory but the stack. */
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
	size_t most = vm_window_packet_bytes();

	if (most > VM_BUFFER_MAX)
		most = VM_BUFFER_MAX;
	f->win = a->win;
	f->rank = a->rank;
	f->origin = vm_far_origin(a->win->window->team, (size_t)a->rank);
	f->used = 0;
	f->question = NULL;
	f->room = most - VM_FAR_RUN_BYTES;
	f->heap = NULL;
	f->buffer = f->few;
	if (bytes <= FEW_BYTES)
		return 0;
	f->buffer = f->heap = malloc(most);
	return f->heap ? 0 : MPI_ERR_NO_MEM;
}

/* So many bytes have been sent that nothing answers: waits where too many have
 * been. */
static int sent(struct vm_win *win, int rank, size_t bytes)
{
	struct vm_window_far *far = vm_far_of(win, rank);
	int rc;

	far->dirty = true;
	far->unasked += bytes;
	if (far->unasked < UNASKED_MOST)
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

/*
 * The shortest way: one row of the target's, of which a packet has all, with data
 * that lie behind each other, and go to `into` if they are answered.
 */
static int row_send(struct vm_access *a, struct vm_window_head head,
		    const struct vm_far_run *run, const void *data,
		    size_t bytes, const struct vm_rows *into)
{
	int rc;

	head.type = (uint8_t)a->basic->value;
	if (into) {
		rc = vm_far_later_one(a, &head.sequence, into);
		return rc == 0 ? vm_far_send_row(a->win, a->rank, &head, run,
						 data, bytes) :
				 rc;
	}
	rc = vm_far_send_row(a->win, a->rank, &head, run, data, bytes);
	return rc == 0 ? sent(a->win, a->rank, bytes) : rc;
}

/* Whether data are a few bytes that lie behind each other. */
static bool is_few(const struct vm_data *data)
{
	return !data->layout && data->bytes <= FEW_BYTES;
}

static struct vm_far_run run_of(const struct vm_access *a, const char *place,
				size_t count)
{
	return (struct vm_far_run){
		(uintptr_t)place -
			vm_far_origin(a->win->window->team, (size_t)a->rank),
		count,
	};
}

/* Describes what the target has said. */
static int explain(struct vm_call *call, const struct vm_access *a, int rc)
{
	if (rc == -VMPI_EINVAL)
		return vm_error(call, MPI_ERR_RMA_RANGE,
				"rank %d has no memory there", a->rank);
	if (rc == MPI_ERR_RMA_RANGE)
		return vm_error(call, rc,
				"rank %d has not attached all of the memory",
				a->rank);
	return rc;
}

static struct vm_data target_data(const struct vm_access *a)
{
	return vm_type_data(a->target.type, a->place, (size_t)a->target.count);
}

/* From so many bytes on a system call that moves them is shorter than packets. */
#define MOVE_MIN (12 << 10)

/*
 * Moves data that are contiguous on both sides through the kernel, if that is
 * to be had.  Of a dynamic window only the target knows what is attached.  The
 * packets of earlier epochs come first.
 * -VMPI_ENOTSUP: they have to go in packets.
 */
static int move(struct vm_call *call, const struct vm_access *a,
		const struct vm_data *target, const struct vm_data *origin)
{
	struct vm_win *win = a->win;
	struct vm_cursor there, here;
	char *from, *to;
	int rc;

	if (target->bytes < MOVE_MIN || win->flavor == MPI_WIN_FLAVOR_DYNAMIC ||
	    !win->places[a->rank].base)
		return -VMPI_ENOTSUP;
	vm_cursor_init(&there, target);
	vm_cursor_init(&here, origin);
	if (vm_cursor_piece(&there, &to, SIZE_MAX) < target->bytes ||
	    vm_cursor_piece(&here, &from, SIZE_MAX) < target->bytes)
		return -VMPI_ENOTSUP;
	if (vm_far_of(win, a->rank)->ended) {
		rc = vm_far_flush(call, win, a->rank);
		if (rc != 0)
			return rc;
	}
	return vm_window_move(win->comm.ranks[a->rank]->to, (uintptr_t)to, from,
			      target->bytes, !a->gets);
}

static int copy(struct vm_access *a, struct vm_window_head head,
		const struct vm_data *there, const struct vm_data *own)
{
	const struct vm_type *byte = vm_type_get(MPI_BYTE);
	struct vm_rows target, origin;
	struct vm_far_run run;

	vm_rows_init(&origin, byte, *own);
	if (is_few(there) && is_few(own) && !a->asked) {
		a->basic = byte;
		run = run_of(a, there->addr, there->bytes);
		return row_send(a, head, &run, own->addr,
				a->gets ? 0 : there->bytes,
				a->gets ? &origin : NULL);
	}
	vm_rows_init(&target, byte, *there);
	return rows_send(a, head, &target, a->gets ? NULL : &origin,
			 a->gets ? &origin : NULL);
}

int vm_far_copy(struct vm_call *call, struct vm_access *a)
{
	struct vm_window_head head = { .what = a->gets ? VM_FAR_get :
							 VM_FAR_put };
	struct vm_data data = target_data(a),
		       own = vm_win_side_data(&a->origin);
	int rc;

	/* Not more than the other side has. */
	if (own.bytes < data.bytes)
		data.bytes = own.bytes;
	rc = move(call, a, &data, &own);
	if (rc == -VMPI_ENOTSUP)
		rc = copy(a, head, &data, &own);
	return explain(call, a, rc);
}

static uint8_t op_number(MPI_Op op)
{
	return (uint8_t)((uintptr_t)op - (uintptr_t)MPI_OP_NULL);
}

/* Whether all sides are a row of a few elements; *own are the origin's. */
static bool is_row(const struct vm_access *a, const struct vm_data *there,
		   struct vm_data *own, bool reads, bool gets)
{
	struct vm_data result;

	*own = (struct vm_data){ 0 };
	if (!is_few(there) || a->asked ||
	    a->basic->extent != (MPI_Count)a->basic->size)
		return false;
	if (reads) {
		*own = vm_win_side_data(&a->origin);
		if (!is_few(own) || own->bytes < there->bytes)
			return false;
		own->bytes = there->bytes;
	}
	if (!gets)
		return true;
	result = vm_win_side_data(&a->result);
	return is_few(&result) && result.bytes >= there->bytes;
}

int vm_far_update(struct vm_call *call, struct vm_access *a)
{
	bool reads = a->op != MPI_NO_OP, gets = a->result.datatype != NULL;
	struct vm_window_head head = { .what = gets ? VM_FAR_fetch :
						      VM_FAR_update,
				       .op = op_number(a->op) };
	struct vm_data there = target_data(a), own;
	struct vm_rows target, origin, result;
	struct vm_far_run run;

	if (gets)
		vm_rows_init(&result, a->basic, vm_win_side_data(&a->result));
	if (is_row(a, &there, &own, reads, gets)) {
		run = run_of(a, there.addr, there.bytes / a->basic->size);
		return explain(call, a,
			       row_send(a, head, &run, own.addr, own.bytes,
					gets ? &result : NULL));
	}
	vm_rows_init(&target, a->basic, there);
	if (reads)
		vm_rows_init(&origin, a->basic, vm_win_side_data(&a->origin));
	return explain(call, a,
		       rows_send(a, head, &target, reads ? &origin : NULL,
				 gets ? &result : NULL));
}

int vm_far_swap(struct vm_call *call, struct vm_access *a, const void *compare)
{
	struct vm_window_head head = { .what = VM_FAR_swap };
	struct vm_far_run run = run_of(a, a->place, 1);
	size_t size = a->basic->size;
	struct vm_rows into;
	char values[32];

	vm_rows_init(&into, a->basic,
		     vm_data_bytes((void *)(uintptr_t)a->result.buf, size));
	memcpy(values, a->origin.buf, size);
	memcpy(values + size, compare, size);
	return explain(call, a,
		       row_send(a, head, &run, values, 2 * size, &into));
}
