/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an origin asks members in other processes, and its waiting for answers.
 */
#include "mpi/win/far/ask.h"

#include <stdlib.h>

#include "base/clock.h"
#include "core/window/wait.h"
#include "mpi/call/errh.h"
#include "mpi/win/far/far.h"
#include "mpi/win/far/move.h"
#include "mpi/win/far/slot.h"

/* Accesses of a window whose answers have not come. */
#define LATERS_MOST 64

struct vm_window_far *vm_far_of(const struct vm_win *win, int rank)
{
	struct vm_window_far *far = win->window->far;

	return &far[rank];
}

int vm_far_send(struct vm_win *win, int rank, struct vm_window_head *head,
		const void *data, size_t bytes)
{
	const struct vm_rank *to = win->comm.ranks[rank];

	head->to = win->places[rank].number;
	head->from = win->window->number;
	head->member = (uint32_t)win->comm.rank;
	return vm_window_send(win->window->owner->port, to->to, head, data,
			      bytes);
}

int vm_far_send_row(struct vm_win *win, int rank, struct vm_window_head *head,
		    const struct vm_far_run *run, const void *data,
		    size_t bytes)
{
	const struct vm_rank *to = win->comm.ranks[rank];

	head->to = win->places[rank].number;
	head->from = run->at;
	head->member = (uint32_t)win->comm.rank;
	head->runs = (uint32_t)run->count;
	head->flag |= VM_FAR_ONE;
	return vm_window_send(win->window->owner->port, to->to, head, data,
			      bytes);
}

/* Questions. */

void vm_far_question_open(struct vm_window *window,
			  struct vm_far_question *question,
			  struct vm_rows *into)
{
	*question = (struct vm_far_question){ .into = into };
	vm_lock_take(&window->lock);
	question->sequence = ++window->sequence;
	vm_list_append(&window->questions, &question->link);
	vm_lock_give(&window->lock);
}

/* One more packet will be answered. */
void vm_far_question_asks(struct vm_window *window,
			  struct vm_far_question *question)
{
	vm_lock_take(&window->lock);
	question->left++;
	vm_lock_give(&window->lock);
}

struct answered {
	const struct vm_far_question *question;
	uint32_t most; /* answers that may be left */
};

static bool answered(void *arg)
{
	const struct answered *answered = arg;

	return answered->question->left <= answered->most;
}

int vm_far_question_wait(struct vm_window *window,
			 struct vm_far_question *question, uint32_t most)
{
	struct answered wanted = { question, most };

	return vm_window_wait(window, answered, &wanted);
}

/* Waits for all answers and ends it: rc, if there is an error already. */
int vm_far_question_end(struct vm_window *window,
			struct vm_far_question *question, int rc)
{
	int end = vm_far_question_wait(window, question, 0);

	vm_lock_take(&window->lock);
	vm_list_remove(&question->link);
	vm_lock_give(&window->lock);
	return rc ? rc : end ? end : question->error;
}

/* What is answered later: an access that has returned. */

struct later {
	struct vm_far_question question;
	struct vm_rows rows; /* where the data go; their layout is held */
	int rank;
	int waiters; /* threads that look at it; under the lock */
	bool ended;
};

static struct later *later_of(struct vm_list *link)
{
	return vm_container_of(link, struct later, question.link);
}

/* Returns the first access to a member, or to any (-1), whose answers are not
 * done with; NULL: there is none. */
static struct later *later_first(const struct vm_win *win, int rank)
{
	struct vm_list *link;

	vm_list_each(link, &win->window->questions) {
		struct later *later = later_of(link);

		if (later->question.later && (rank < 0 || later->rank == rank))
			return later;
	}
	return NULL;
}

/* Under the lock; without it flushes look whether there are any. */
static int laters_add(struct vm_win *win, int n)
{
	n += atomic_load_explicit(&win->laters, memory_order_relaxed);
	/* Pairs with the load in laters_wait(): the data are there. */
	atomic_store_explicit(&win->laters, n, memory_order_release);
	return n;
}

/* Takes it off the list, with its error.  Under the lock. */
static void later_end(struct vm_win *win, struct later *later)
{
	struct vm_window_far *far = vm_far_of(win, later->rank);

	vm_list_remove(&later->question.link);
	later->ended = true;
	laters_add(win, -1);
	vm_far_fault(far, (uint32_t)later->question.error);
}

/* What is left of it when nobody needs it: memory for the next one.  Gives the
 * lock back. */
static void later_leave(struct vm_win *win, struct later *later)
{
	const struct vm_layout *layout = later->rows.cursor.data.layout;

	if (!win->spare) {
		win->spare = later;
		later = NULL;
	}
	vm_lock_give(&win->window->lock);
	if (layout)
		vm_layout_drop(layout);
	free(later);
}

/* Waits for the answers of one.  Several threads may do so. */
static int later_wait(struct vm_win *win, struct later *later)
{
	struct vm_window *window = win->window;
	int rc = vm_far_question_wait(window, &later->question, 0);

	vm_lock_take(&window->lock);
	if (rc == 0 && !later->ended)
		later_end(win, later);
	if (--later->waiters == 0 && later->ended)
		later_leave(win, later);
	else
		vm_lock_give(&window->lock);
	return rc;
}

/* Waits for the answers of all accesses to a member, or to all (-1), or only
 * for those of the first one. */
static int laters_wait(struct vm_win *win, int rank, bool all)
{
	struct later *later;
	int rc = 0;

	if (!atomic_load_explicit(&win->laters, memory_order_acquire))
		return 0;
	do {
		vm_lock_take(&win->window->lock);
		later = later_first(win, rank);
		if (later)
			later->waiters++;
		vm_lock_give(&win->window->lock);
		if (later)
			rc = later_wait(win, later);
	} while (later && all && rc == 0);
	return rc;
}

/* Takes memory for one, and the lock; NULL: neither. */
static struct later *later_new(struct vm_win *win)
{
	struct later *later;

	vm_lock_take(&win->window->lock);
	later = win->spare;
	win->spare = NULL;
	if (later)
		return later;
	vm_lock_give(&win->window->lock);
	later = malloc(sizeof(*later));
	if (later)
		vm_lock_take(&win->window->lock);
	return later;
}

/* An access that is answered so often, as far as is known. */
static int later_open(struct vm_win *win, int rank, struct later **out,
		      const struct vm_rows *into)
{
	struct vm_window *window = win->window;
	struct later *later = later_new(win);
	bool full;

	if (!later)
		return MPI_ERR_NO_MEM;
	later->rows = *into;
	later->rank = rank;
	later->waiters = 0;
	later->ended = false;
	later->question = (struct vm_far_question){ .into = &later->rows,
						    .later = true,
						    .left = 1 };
	later->question.sequence = ++window->sequence;
	vm_list_append(&window->questions, &later->question.link);
	full = laters_add(win, 1) > LATERS_MOST;
	vm_lock_give(&window->lock);
	if (later->rows.cursor.data.layout)
		vm_layout_hold(later->rows.cursor.data.layout);
	*out = later;
	return full ? laters_wait(win, -1, false) : 0;
}

int vm_far_later_open(struct vm_access *a, struct vm_far_question **question,
		      const struct vm_rows *into)
{
	struct later *later = NULL;
	int rc = later_open(a->win, a->rank, &later, into);

	/* It is one more until all is sent. */
	if (later)
		*question = &later->question;
	return rc;
}

int vm_far_later_one(struct vm_win *win, int rank, uint32_t *sequence,
		     const struct vm_rows *into)
{
	struct later *later = NULL;
	int rc = later_open(win, rank, &later, into);

	if (later)
		*sequence = later->question.sequence;
	return rc;
}

/* All is sent. */
void vm_far_later_sent(struct vm_window *window,
		       struct vm_far_question *question)
{
	vm_lock_take(&window->lock);
	question->left--;
	vm_window_wake(window);
}

void vm_far_close(struct vm_win *win)
{
	struct later *later;

	if (!win->window)
		return;
	do {
		vm_lock_take(&win->window->lock);
		later = later_first(win, -1);
		if (later) {
			later_end(win, later);
			later_leave(win, later);
		} else {
			vm_lock_give(&win->window->lock);
		}
	} while (later);
	free(win->spare);
	free(win->slots);
	vm_far_pile_close(win);
	free(win->choices);
}

/* Asking whether all is done. */

struct acked {
	struct vm_window_far *far;
	uint32_t most; /* asks that may be open */
};

static bool acked(void *arg)
{
	const struct acked *acked = arg;

	return acked->far->asks - acked->far->acks <= acked->most;
}

/* The number of a question that is sent next; told: it is answered there, or
 * NULL.  Under the lock until it is sent. */
static uint32_t number_take(struct vm_window_far *far,
			    const struct vm_window_told *told)
{
	uint32_t number = vm_win_load(far->tells) + 1;

	if (!told)
		return ++far->asks;
	vm_win_store(far->tells, number);
	return number;
}

/* Sends a question; flushes: somebody waits for all that was sent before. */
static int ask(struct vm_win *win, int rank, const struct vm_window_told *told,
	       bool flushes)
{
	struct vm_window_head head = { .what = VM_FAR_ask,
				       .flag = told ? VM_FAR_TELL : 0 };
	struct vm_window_far *far = vm_far_of(win, rank);
	int rc;

	vm_lock_take(&win->window->lock);
	head.sequence = number_take(far, told);
	if (flushes) {
		vm_win_store(far->unasked, 0);
		vm_win_store(far->asked, head.sequence);
		/* What is sent from now on is not meant.  Pairs with the load
		 * in vm_far_unasked(). */
		atomic_store_explicit(&far->dirty, false, memory_order_release);
	}
	rc = vm_far_send(win, rank, &head, NULL, 0);
	vm_lock_give(&win->window->lock);
	return rc;
}

int vm_far_ask(struct vm_win *win, int rank)
{
	return ask(win, rank, vm_far_told(win, rank), true);
}

int vm_far_ask_along(struct vm_win *win, int rank, struct vm_window_head *head,
		     const struct vm_far_run *run, const void *data,
		     size_t bytes)
{
	struct vm_window_far *far = vm_far_of(win, rank);
	int rc;

	head->flag |= VM_FAR_TELL;
	vm_lock_take(&win->window->lock);
	head->sequence = number_take(far, vm_far_told(win, rank));
	vm_win_store(far->asked, head->sequence);
	rc = vm_far_send_row(win, rank, head, run, data, bytes);
	vm_lock_give(&win->window->lock);
	return rc;
}

static int acks_wait(struct vm_win *win, int rank, uint32_t most)
{
	struct acked wanted = { vm_far_of(win, rank), most };

	return vm_window_wait(win->window, acked, &wanted);
}

/* A member that takes so long to answer does something else. */
#define AWAY_NS 200000

/* It is reached without its help for a while, and longer each time. */
#define AWAY_LEAST 64
#define AWAY_MOST 4096

static void away(struct vm_window_far *far)
{
	uint16_t absence = vm_win_load(far->absence);

	absence = !absence		  ? AWAY_LEAST :
		  absence < AWAY_MOST / 2 ? absence * 2 :
					    AWAY_MOST;
	vm_win_store(far->absence, absence);
	vm_win_store(far->away, absence);
}

/* It is back if it answers so soon. */
#define BACK_NS 20000

bool vm_far_is_away(struct vm_win *win, int rank)
{
	const struct vm_window_told *told = vm_far_told(win, rank);
	struct vm_window_far *far = vm_far_of(win, rank);
	uint64_t asked = vm_win_load(far->asked_ns);
	uint16_t left = vm_win_load(far->away);

	if (left > 1) {
		vm_win_store(far->away, left - 1);
		return true;
	}
	/* Nothing is waited for meanwhile; the kernel says if it is gone. */
	if (!asked) {
		vm_win_store(far->asked_ns, vm_clock_ns());
		ask(win, rank, told, false);
		vm_win_store(far->asked_tell, vm_win_load(far->tells));
		return true;
	}
	if (!vm_window_has_come(&told->come, vm_win_load(far->asked_tell)))
		return true;
	vm_win_store(far->asked_ns, 0);
	vm_win_store(far->away, 0);
	if (vm_clock_ns() - asked < BACK_NS)
		return false;
	away(far);
	return true;
}

int vm_far_ask_long(struct vm_win *win, int rank)
{
	uint64_t begin = vm_clock_ns();
	int rc = ask(win, rank, NULL, false);

	if (rc == 0)
		rc = acks_wait(win, rank, 0);
	if (rc == 0 && vm_clock_ns() - begin > AWAY_NS)
		away(vm_far_of(win, rank));
	return rc;
}

int vm_far_ask_wait(struct vm_win *win, int rank, uint32_t most)
{
	struct vm_window_told *told = vm_far_told(win, rank);
	struct vm_window_far *far = vm_far_of(win, rank);
	int rc;

	if (!told)
		return acks_wait(win, rank, most);
	if (vm_window_watch(&told->come, vm_win_load(far->tells) - most)) {
		vm_win_store(far->absence, 0);
		rc = 0;
	} else {
		rc = vm_far_ask_long(win, rank);
	}
	/* All that were asked for have come. */
	if (rc == 0 && most == 0 && VM_UNLIKELY(told->error)) {
		vm_far_fault(far, told->error);
		told->error = 0;
	}
	return rc;
}

/* What of the accesses to a member has failed since this was asked last. */
static int failed(struct vm_call *call, struct vm_win *win, int rank)
{
	struct vm_window_far *far = vm_far_of(win, rank);
	int error = vm_win_load(far->error);

	if (!error)
		return 0;
	vm_win_store(far->error, 0);
	if (error == vm_mpi_error(-VMPI_EPEER))
		return -VMPI_EPEER;
	if (error != MPI_ERR_RMA_RANGE)
		return vm_error(call, error, "an access to rank %d has failed",
				rank);
	return vm_error(call, error,
			"rank %d has refused an access to memory that it has "
			"not attached",
			rank);
}

int vm_far_flush_local(struct vm_call *call, struct vm_win *win, int rank)
{
	int rc = vm_far_pile_end(win, rank);

	if (rc == 0)
		rc = vm_far_slots_wait(win, rank);
	if (rc == 0)
		rc = laters_wait(win, rank, true);
	return rc == 0 ? failed(call, win, rank) : rc;
}

int vm_far_flush_local_all(struct vm_call *call, struct vm_win *win)
{
	int rc = 0;

	if (!win->window->far)
		return 0;
	for (int i = 0; i < win->size && rc == 0; i++)
		if (vm_win_is_far(win, i))
			rc = vm_far_flush_local(call, win, i);
	return rc;
}

bool vm_far_is_still(const struct vm_win *win, int rank)
{
	const struct vm_window_far *far = vm_far_of(win, rank);

	return !vm_far_dirty(far) && !vm_win_load(far->error) &&
	       !atomic_load_explicit(&win->laters, memory_order_acquire) &&
	       !vm_far_pile_any(win->pile) && !vm_far_slots_any(win->slots);
}

int vm_far_flush(struct vm_call *call, struct vm_win *win, int rank)
{
	struct vm_window_far *far = vm_far_of(win, rank);
	uint32_t asked;
	int rc;

	if (vm_far_is_still(win, rank)) {
		vm_win_store(far->ended, false);
		vm_far_row_end(win, true);
		return 0;
	}
	rc = vm_far_pile_end(win, rank);
	if (rc == 0 && vm_far_unasked(far))
		rc = vm_far_ask(win, rank);
	/* Others may ask meanwhile, and wait for that. */
	asked = vm_win_load(far->asked);
	if (rc == 0 && asked != vm_win_load(far->waited)) {
		rc = vm_far_ask_wait(win, rank, 0);
		if (rc == 0)
			vm_win_store(far->waited, asked);
	}
	if (rc == 0) {
		vm_win_store(far->ended, false);
		rc = vm_far_flush_local(call, win, rank);
	}
	vm_far_row_end(win, rc == 0);
	return rc;
}

bool vm_far_is_dirty(const struct vm_win *win, int rank)
{
	return win->window->far && vm_far_dirty(vm_far_of(win, rank));
}

int vm_far_end(struct vm_call *call, struct vm_win *win, int rank)
{
	int rc;

	if (!vm_win_is_far(win, rank))
		return 0;
	vm_far_row_end(win, false);
	/* Only the answer says what it has refused. */
	if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
		return vm_far_flush(call, win, rank);
	rc = vm_far_pile_end(win, rank);
	vm_win_store(vm_far_of(win, rank)->ended, vm_far_is_dirty(win, rank));
	return rc == 0 ? vm_far_flush_local(call, win, rank) : rc;
}

int vm_far_flush_all(struct vm_call *call, struct vm_win *win)
{
	int rc = 0;

	if (!win->window->far)
		return 0;
	for (int i = 0; i < win->size && rc == 0; i++)
		if (vm_win_is_far(win, i) && vm_far_unasked(vm_far_of(win, i)))
			rc = vm_far_ask(win, i);
	for (int i = 0; i < win->size && rc == 0; i++)
		if (vm_win_is_far(win, i))
			rc = vm_far_flush(call, win, i);
	return rc;
}
