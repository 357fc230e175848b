/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Epochs in which those who are reached take part: fences; post, start,
 * complete and wait.
 */
#include <stdlib.h>

#include "core/window/post.h"
#include "mpi/call/check.h"
#include "mpi/coll/algo/run.h"
#include "mpi/comm/group.h"
#include "mpi/win/far/far.h"

#define FENCE_MODES                                               \
	(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | \
	 MPI_MODE_NOSUCCEED)

static int check_fence(struct vm_call *call, const struct vm_win *win,
		       int asserted)
{
	int rc = vm_check_assert(call, asserted, FENCE_MODES);

	if (rc == 0 && vm_win_load(win->epoch) > VM_WIN_FENCE)
		rc = vm_error(call, MPI_ERR_RMA_SYNC,
			      "another epoch has not ended: %s",
			      vm_win_epoch_text(win));
	if (rc == 0 && win->posted)
		rc = vm_error(call, MPI_ERR_RMA_SYNC,
			      "the exposure epoch that MPI_Win_post began has "
			      "not ended");
	return rc;
}

/* Behind the accesses to the member, if these are packets. */
static int post(struct vm_win *win, int rank)
{
	const struct vm_window_place *place = &win->places[rank];
	int rc;

	if (!place->window && (!place->posts || vm_far_is_dirty(win, rank)))
		return vm_far_post(win, rank);
	rc = vm_window_post(place, (size_t)win->comm.rank);
	return rc == VM_PENDING ? vm_far_wake(win, rank) : rc;
}

/*
 * A fence of members of which each is alone in its process: each posts to all
 * others.  Of two, the post behind what is under way says that it has come; of
 * more a third one may go on before.
 */
static int fence_few(struct vm_call *call, struct vm_win *win)
{
	int self = win->comm.rank, rc = win->size == 2 ?
						vm_far_end(call, win, !self) :
						vm_far_flush_all(call, win);

	for (int i = 0; i < win->size && rc == 0; i++)
		if (i != self)
			rc = post(win, i);
	for (int i = 0; i < win->size && rc == 0; i++)
		if (i != self)
			rc = vm_window_post_wait(win->window, (size_t)i,
						 win->comm.chan);
	return rc;
}

static int fence(struct vm_call *call, struct vm_win *win)
{
	struct vm_coll coll;
	int rc;

	if (win->few)
		return fence_few(call, win);
	rc = vm_far_flush_all(call, win);
	if (rc != 0)
		return rc;
	vm_coll_init(&coll, &vm_coll_barrier, call, &win->comm);
	return vm_coll_run(call, &coll);
}

int PMPI_Win_fence(int asserted, MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_fence);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = check_fence(&call, w, asserted);
	if (rc == 0)
		rc = fence(&call, w);
	if (rc == 0) {
		bool open = !(asserted & MPI_MODE_NOSUCCEED);

		vm_win_store(w->open, open);
		vm_win_store(w->epoch, open ? VM_WIN_FENCE : VM_WIN_CLOSED);
		vm_win_store(w->used, false);
	}
	return vm_win_exit(&call, win, rc);
}

/* Returns the numbers of a group's members in the window, malloc'ed; NULL: it
 * has none. */
static int members_of(struct vm_call *call, const struct vm_win *win,
		      MPI_Group handle, int **members, int *count)
{
	struct vm_mpi_group *group;
	int rc = vm_check_group(call, handle, &group);

	*members = NULL;
	*count = rc == 0 ? vm_mpi_group_size(group) : 0;
	if (!*count)
		return rc;
	*members = malloc((size_t)*count * sizeof(**members));
	if (!*members)
		return MPI_ERR_NO_MEM;
	for (int i = 0; rc == 0 && i < *count; i++) {
		(*members)[i] = vm_group_place(win->comm.chan->group,
					       group->group->ranks[i]);
		if ((*members)[i] == MPI_UNDEFINED)
			rc = vm_error(call, MPI_ERR_GROUP,
				      "member %d of the group is not in the "
				      "group of the window",
				      i);
	}
	if (rc != 0)
		free(*members);
	return rc;
}

/* Ends an epoch that a fence opened and nobody used. */
static void fence_close(struct vm_win *win)
{
	if (vm_win_load(win->epoch) != VM_WIN_FENCE)
		return;
	vm_win_store(win->epoch, VM_WIN_CLOSED);
	vm_win_store(win->open, false);
}

#define POST_MODES (MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT)

static int check_post(struct vm_call *call, const struct vm_win *win,
		      int asserted)
{
	int rc = vm_check_assert(call, asserted, POST_MODES);

	if (rc == 0 && win->posted)
		rc = vm_error(call, MPI_ERR_RMA_SYNC,
			      "the last exposure epoch has not ended");
	if (rc == 0 && vm_win_load(win->epoch) == VM_WIN_FENCE)
		rc = vm_check_epoch_begin(call, win);
	return rc;
}

int PMPI_Win_post(MPI_Group group, int asserted, MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_post);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = check_post(&call, w, asserted);
	if (rc == 0)
		rc = members_of(&call, w, group, &w->origins, &w->origin_count);
	if (rc != 0)
		return vm_win_exit(&call, win, rc);
	fence_close(w);
	w->posted = true;
	for (int i = 0; i < w->origin_count && rc == 0; i++)
		rc = post(w, w->origins[i]);
	return vm_win_exit(&call, win, rc);
}

int PMPI_Win_start(MPI_Group group, int asserted, MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_start);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = vm_check_assert(&call, asserted, MPI_MODE_NOCHECK);
	if (rc == 0)
		rc = vm_check_epoch_begin(&call, w);
	if (rc == 0)
		rc = members_of(&call, w, group, &w->targets, &w->target_count);
	if (rc != 0)
		return vm_win_exit(&call, win, rc);
	fence_close(w);
	vm_win_store(w->epoch, VM_WIN_START);
	for (int i = 0; i < w->target_count && rc == 0; i++) {
		rc = vm_window_post_wait(w->window, (size_t)w->targets[i],
					 NULL);
		vm_win_store(w->access[w->targets[i]], VM_WIN_STARTED);
	}
	return vm_win_exit(&call, win, rc);
}

/* Tells a member that all accesses to it are done. */
static int complete(struct vm_call *call, struct vm_win *win, int rank)
{
	const struct vm_window_place *place = &win->places[rank];
	int rc = vm_far_end(call, win, rank), told;

	if (place->words && !vm_far_is_dirty(win, rank)) {
		told = vm_window_complete(place);
		if (told == VM_PENDING)
			told = vm_far_wake(win, rank);
	} else {
		told = vm_far_complete(win, rank);
	}
	return rc ? rc : told;
}

int PMPI_Win_complete(MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_complete);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0 && vm_win_load(w->epoch) != VM_WIN_START)
		rc = vm_error(&call, MPI_ERR_RMA_SYNC, "%s",
			      vm_win_epoch_text(w));
	if (rc != 0)
		return vm_win_exit(&call, win, rc);
	for (int i = 0; i < w->target_count; i++) {
		int gone = complete(&call, w, w->targets[i]);

		vm_win_store(w->access[w->targets[i]], VM_WIN_NO_WAY);
		rc = rc ? rc : gone;
	}
	free(w->targets);
	w->targets = NULL;
	vm_win_store(w->epoch, VM_WIN_CLOSED);
	return vm_win_exit(&call, win, rc);
}

static void exposure_end(struct vm_win *win)
{
	free(win->origins);
	win->origins = NULL;
	win->posted = false;
}

static int check_posted(struct vm_call *call, const struct vm_win *win)
{
	if (win->posted)
		return 0;
	return vm_error(call, MPI_ERR_RMA_SYNC,
			"no exposure epoch was begun by MPI_Win_post");
}

int PMPI_Win_wait(MPI_Win win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_wait);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = check_posted(&call, w);
	if (rc == 0) {
		rc = vm_window_complete_wait(w->window,
					     (size_t)w->origin_count);
		exposure_end(w);
	}
	return vm_win_exit(&call, win, rc);
}

int PMPI_Win_test(MPI_Win win, int *flag)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_test);
	struct vm_win *w;
	int rc = vm_check_win(&call, win, &w);

	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc == 0)
		rc = check_posted(&call, w);
	if (rc != 0)
		return vm_win_exit(&call, win, rc);
	*flag = vm_window_complete_test(w->window, (size_t)w->origin_count);
	if (*flag)
		exposure_end(w);
	else
		vm_req_poll();
	return MPI_SUCCESS;
}
