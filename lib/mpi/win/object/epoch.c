/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of epochs.
 */
#include "mpi/win/object/epoch.h"

#include "mpi/call/check.h"

const char *vm_win_epoch_text(const struct vm_win *win)
{
	static const char *const texts[] = {
		[VM_WIN_CLOSED] = "no epoch is open",
		[VM_WIN_FENCE] = "the epoch is one of MPI_Win_fence",
		[VM_WIN_START] = "the epoch is one of MPI_Win_start",
		[VM_WIN_LOCK] = "the epoch is one of MPI_Win_lock",
		[VM_WIN_LOCK_ALL] = "the epoch is one of MPI_Win_lock_all",
	};

	return texts[vm_win_load(win->epoch)];
}

int vm_check_epoch_begin(struct vm_call *call, const struct vm_win *win)
{
	if (vm_win_load(win->epoch) == VM_WIN_CLOSED ||
	    (vm_win_load(win->epoch) == VM_WIN_FENCE &&
	     !vm_win_load(win->used)))
		return 0;
	return vm_error(call, MPI_ERR_RMA_SYNC,
			"another epoch has not ended: %s",
			vm_win_epoch_text(win));
}

int vm_check_assert(struct vm_call *call, int asserted, int allowed)
{
	if (!(asserted & ~allowed))
		return 0;
	return vm_error(call, MPI_ERR_ASSERT,
			"assertion %d has bits that this call does not have",
			asserted);
}
