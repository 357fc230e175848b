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

/* Sends what is in it, and waits where too much is under way. */
static int filling_send(struct filling *f)
{
	size_t bytes = f->head.runs * sizeof(f->runs[0]);
	char *start = f->buffer + VM_FAR_RUN_BYTES - bytes;
	struct vm_window *window = f->win->window;
	struct vm_window_far *far = vm_far_of(f->win, f->rank);
	int rc;

	if (!f->head.runs)
		return 0;
	memcpy(start, f->runs, bytes);
	if (f->sends)
		bytes += f->used;
	if (f->question) {
		f->head.sequence = f->question->sequence;
		vm_far_question_asks(window, f->question);
	}
	rc = vm_far_send(f->win, f->rank, &f->head, start, bytes);
	f->head.runs = 0;
	f->used = 0;
	if (rc == 0 && f->question)
		rc = vm_far_question_wait(window, f->question, ANSWERS_MOST);
	if (f->question)
		return rc;
	far->dirty = true;
	far->unasked += bytes;
	if (rc == 0 && far->unasked >= UNASKED_MOST) {
		rc = vm_far_ask(f->win, f->rank);
		if (rc == 0)
			rc = vm_far_ask_wait(f->win, f->rank, ASKS_MOST);
	}
	return rc;
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

int vm_far_copy(struct vm_call *call, struct vm_access *a)
{
	const struct vm_type *byte = vm_type_get(MPI_BYTE);
	struct vm_window_head head = { .what = a->gets ? VM_FAR_get :
							 VM_FAR_put };
	struct vm_data data = target_data(a),
		       own = vm_win_side_data(&a->origin);
	struct vm_rows target, origin;
	int rc;

	/* Not more than the other side has. */
	if (own.bytes < data.bytes)
		data.bytes = own.bytes;
	rc = move(call, a, &data, &own);
	if (rc != -VMPI_ENOTSUP)
		return explain(call, a, rc);
	vm_rows_init(&target, byte, data);
	vm_rows_init(&origin, byte, own);
	return explain(call, a,
		       rows_send(a, head, &target, a->gets ? NULL : &origin,
				 a->gets ? &origin : NULL));
}

static uint8_t op_number(MPI_Op op)
{
	return (uint8_t)((uintptr_t)op - (uintptr_t)MPI_OP_NULL);
}

int vm_far_update(struct vm_call *call, struct vm_access *a)
{
	bool reads = a->op != MPI_NO_OP, gets = a->result.datatype != NULL;
	struct vm_window_head head = { .what = gets ? VM_FAR_fetch :
						      VM_FAR_update,
				       .op = op_number(a->op) };
	struct vm_rows target, origin, result;

	vm_rows_init(&target, a->basic, target_data(a));
	if (reads)
		vm_rows_init(&origin, a->basic, vm_win_side_data(&a->origin));
	if (gets)
		vm_rows_init(&result, a->basic, vm_win_side_data(&a->result));
	return explain(call, a,
		       rows_send(a, head, &target, reads ? &origin : NULL,
				 gets ? &result : NULL));
}

int vm_far_swap(struct vm_call *call, struct vm_access *a, const void *compare)
{
	struct vm_window_head head = { .what = VM_FAR_swap,
				       .runs = 1,
				       .type = (uint8_t)a->basic->value };
	size_t size = a->basic->size;
	struct {
		struct vm_far_run run;
		char values[32];
	} packet = { .run.count = 1 };
	struct vm_window *window = a->win->window;
	struct vm_far_question *question = NULL;
	struct vm_rows into;
	int rc;

	vm_rows_init(&into, a->basic, vm_data_bytes(a->result.buf, size));
	packet.run.at = (uintptr_t)a->place -
			vm_far_origin(window->team, (size_t)a->rank);
	memcpy(packet.values, a->origin.buf, size);
	memcpy(packet.values + size, compare, size);
	rc = vm_far_later_open(a, &question, &into);
	if (rc == 0) {
		vm_far_question_asks(window, question);
		head.sequence = question->sequence;
		rc = vm_far_send(a->win, a->rank, &head, &packet,
				 sizeof(packet.run) + 2 * size);
	}
	if (question)
		vm_far_later_sent(window, question);
	return explain(call, a, rc);
}
