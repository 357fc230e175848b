/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Epochs in which those who are reached take no part: locks, and flushes.
 *
 * Accesses in this process are complete when their call returns, so a flush is
 * a fence of memory; those to other processes are asked about.
 */
#include "mpi/win/passive.h"

#include "core/window/claim.h"
#include "core/window/wait.h"
#include "mpi/call/check.h"
#include "mpi/win/far/far.h"

/* All accesses are done, and seen by others. */
static void flushed(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	vm_win_breathe();
}

static int check_lock_one(struct vm_call *call, const struct vm_win *win,
			  int lock_type, int rank, int asserted)
{
	int rc = vm_check_assert(call, asserted, MPI_MODE_NOCHECK);

	if (rc == 0 && lock_type != MPI_LOCK_SHARED &&
	    lock_type != MPI_LOCK_EXCLUSIVE)
		rc = vm_error(call, MPI_ERR_LOCKTYPE,
			      "%d is neither MPI_LOCK_SHARED nor "
			      "MPI_LOCK_EXCLUSIVE",
			      lock_type);
	if (rc == 0 && rank != MPI_PROC_NULL)
		rc = vm_check_win_rank(call, win, rank, "rank");
	if (rc == 0 && vm_win_load(win->epoch) != VM_WIN_LOCK)
		rc = vm_check_epoch_begin(call, win);
	if (rc == 0 && rank != MPI_PROC_NULL && vm_win_load(win->access[rank]))
		rc = vm_error(call, MPI_ERR_RMA_SYNC,
			      "the caller has locked rank %d already", rank);
	return rc;
}

static int lock(struct vm_win *win, int rank, bool exclusive)
{
	const struct vm_window_place *place = &win->places[rank];
	int rc;

	if (place->words &&
	    vm_window_lock_try(&place->words->locks, exclusive, false))
		return 0;
	if (place->window)
		return vm_window_lock_wait(place->window, exclusive);
	rc = vm_far_lock_wait(win, rank, exclusive);
	/* The member's process has taken it for the caller: this pairs with the
	 * release of whoever had it before. */
	if (rc == 0 && place->words)
		atomic_load_explicit(&place->words->locks,
				     memory_order_acquire);
	return rc;
}

static int unlock(struct vm_win *win, int rank, bool exclusive)
{
	const struct vm_window_place *place = &win->places[rank];

	if (!place->words)
		return vm_far_unlock(win, rank, exclusive);
	if (!vm_window_lock_give(&place->words->locks, exclusive))
		return 0;
	if (!place->window)
		return vm_far_grant(win, rank);
	vm_window_grant(place->window);
	return 0;
}

int PMPI_Win_lock(int lock_type, int rank, int asserted, MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_lock);
	bool exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = check_lock_one(&call, w, lock_type, rank, asserted);
	if (rc != 0 || rank == MPI_PROC_NULL)
		return vm_win_exit(&call, win, rc);
	if (!(asserted & MPI_MODE_NOCHECK))
		rc = lock(w, rank, exclusive);
	if (rc != 0)
		return vm_win_exit(&call, win, rc);
	/* Other threads may lock others. */
	vm_bias_take(&w->locks);
	vm_win_store(w->epoch, VM_WIN_LOCK);
	vm_win_store(w->open, false);
	w->locked++;
	vm_win_store(w->access[rank], asserted & MPI_MODE_NOCHECK ?
					      VM_WIN_UNLOCKED :
				      exclusive ? VM_WIN_EXCLUSIVE :
						  VM_WIN_SHARED);
	vm_bias_give(&w->locks);
	return MPI_SUCCESS;
}

/* Checks that the caller has locked a member by itself. */
static int check_locked(struct vm_call *call, const struct vm_win *win,
			int rank)
{
	int rc = vm_check_win_rank(call, win, rank, "rank");

	if (rc == 0 && (vm_win_load(win->epoch) != VM_WIN_LOCK ||
			!vm_win_load(win->access[rank])))
		rc = vm_error(call, MPI_ERR_RMA_SYNC,
			      "rank %d is not locked: %s", rank,
			      vm_win_epoch_text(win));
	return rc;
}

int PMPI_Win_unlock(int rank, MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_unlock);
	enum vm_win_way way;
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0 && rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (rc == 0)
		rc = check_locked(&call, w, rank);
	if (rc != 0)
		return vm_win_exit(&call, win, rc);
	vm_bias_take(&w->locks);
	way = vm_win_load(w->access[rank]);
	vm_win_store(w->access[rank], VM_WIN_NO_WAY);
	if (--w->locked == 0)
		vm_win_store(w->epoch, VM_WIN_CLOSED);
	vm_bias_give(&w->locks);
	if (vm_win_is_far(w, rank))
		rc = vm_far_flush(&call, w, rank);
	atomic_thread_fence(memory_order_seq_cst);
	if (way != VM_WIN_UNLOCKED)
		unlock(w, rank, way == VM_WIN_EXCLUSIVE);
	vm_win_breathe();
	return vm_win_exit(&call, win, rc);
}

static bool is_locked(void *arg)
{
	const _Atomic uint8_t *way = arg;

	return vm_win_load(*way) != VM_WIN_LOCKING;
}

int vm_win_lock_shared(struct vm_win *win, int rank)
{
	_Atomic uint8_t *way = &win->access[rank];
	struct vm_window *window = win->window;
	uint8_t before;
	int rc;

	vm_lock_take(&window->lock);
	before = vm_win_load(*way);
	if (before == VM_WIN_NO_WAY)
		vm_win_store(*way, VM_WIN_LOCKING);
	vm_lock_give(&window->lock);
	/* Another thread was first: two locks would wait for each other, if a
	 * third one is to be between them. */
	if (before == VM_WIN_LOCKING)
		return vm_window_wait(window, is_locked, way);
	if (before != VM_WIN_NO_WAY)
		return 0;
	rc = lock(win, rank, false);
	vm_lock_take(&window->lock);
	/* Pairs with the load in vm_win_reaches(). */
	atomic_store_explicit(way, rc == 0 ? VM_WIN_SHARED : VM_WIN_NO_WAY,
			      memory_order_release);
	vm_window_wake(window);
	return rc;
}

/* Gives back what MPI_Win_lock_all, or an access since, has locked. */
static void shared_unlock(struct vm_win *win)
{
	for (int i = 0; i < win->size; i++) {
		if (vm_win_load(win->access[i]) == VM_WIN_SHARED)
			unlock(win, i, false);
		vm_win_store(win->access[i], VM_WIN_NO_WAY);
	}
}

int PMPI_Win_lock_all(int asserted, MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_lock_all);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = vm_check_assert(&call, asserted, MPI_MODE_NOCHECK);
	if (rc == 0)
		rc = vm_check_epoch_begin(&call, w);
	if (rc != 0)
		return vm_win_exit(&call, win, rc);
	w->nocheck = (asserted & MPI_MODE_NOCHECK) != 0;
	/* Others are locked when they are reached first. */
	for (int i = 0; !w->nocheck && i < w->size && rc == 0; i++) {
		if (!w->places[i].words)
			continue;
		rc = lock(w, i, false);
		if (rc == 0)
			vm_win_store(w->access[i], VM_WIN_SHARED);
	}
	if (rc != 0) {
		shared_unlock(w);
		return vm_win_exit(&call, win, rc);
	}
	vm_win_store(w->epoch, VM_WIN_LOCK_ALL);
	vm_win_store(w->open, w->nocheck);
	return MPI_SUCCESS;
}

int PMPI_Win_unlock_all(MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_unlock_all);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0 && vm_win_load(w->epoch) != VM_WIN_LOCK_ALL)
		rc = vm_error(&call, MPI_ERR_RMA_SYNC, "%s",
			      vm_win_epoch_text(w));
	if (rc != 0)
		return vm_win_exit(&call, win, rc);
	vm_win_store(w->epoch, VM_WIN_CLOSED);
	vm_win_store(w->open, false);
	rc = vm_far_flush_all(&call, w);
	atomic_thread_fence(memory_order_seq_cst);
	shared_unlock(w);
	vm_win_breathe();
	return vm_win_exit(&call, win, rc);
}

/* Checks that the epoch is one of locks, in which flushes are allowed. */
static int check_passive(struct vm_call *call, const struct vm_win *win)
{
	if (vm_win_load(win->epoch) == VM_WIN_LOCK ||
	    vm_win_load(win->epoch) == VM_WIN_LOCK_ALL)
		return 0;
	return vm_error(call, MPI_ERR_RMA_SYNC, "nothing is locked: %s",
			vm_win_epoch_text(win));
}

/* local: only the caller's buffers matter; those of what it sent are not used
 * any more. */
static int flush(enum vm_call_id id, int rank, MPI_Win win, bool local)
{
	struct vm_call call = vm_call_enter(id);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0 && rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (rc == 0 && vm_win_load(w->epoch) == VM_WIN_LOCK_ALL)
		rc = vm_check_win_rank(&call, w, rank, "rank");
	else if (rc == 0)
		rc = check_locked(&call, w, rank);
	if (rc != 0)
		return vm_win_exit(&call, win, rc);
	if (!vm_win_is_far(w, rank)) {
		flushed();
		return MPI_SUCCESS;
	}
	rc = local ? vm_far_flush_local(&call, w, rank) :
		     vm_far_flush(&call, w, rank);
	vm_win_breathe();
	return vm_win_exit(&call, win, rc);
}

static int flush_all(enum vm_call_id id, MPI_Win win, bool local)
{
	struct vm_call call = vm_call_enter(id);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = check_passive(&call, w);
	if (rc == 0)
		rc = local ? vm_far_flush_local_all(&call, w) :
			     vm_far_flush_all(&call, w);
	if (rc == 0)
		flushed();
	return vm_win_exit(&call, win, rc);
}

int PMPI_Win_flush(int rank, MPI_Win win)
{
	return flush(VM_CALL_Win_flush, rank, win, false);
}

int PMPI_Win_flush_local(int rank, MPI_Win win)
{
	return flush(VM_CALL_Win_flush_local, rank, win, true);
}

int PMPI_Win_flush_all(MPI_Win win)
{
	return flush_all(VM_CALL_Win_flush_all, win, false);
}

int PMPI_Win_flush_local_all(MPI_Win win)
{
	return flush_all(VM_CALL_Win_flush_local_all, win, true);
}

/* Others are let run now and then: programs call this in loops that wait for
 * what these store. */
int PMPI_Win_sync(MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_sync);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		flushed();
	return vm_win_exit(&call, win, rc);
}
