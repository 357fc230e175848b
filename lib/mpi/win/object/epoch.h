/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Epochs: when a member may reach the memory of which others.
 *
 * MPI_Win_fence opens an epoch that lasts until the next one, or until another
 * kind begins, unless it was used.  All other epochs end as they begin.
 */
#ifndef MPI_WIN_OBJECT_EPOCH_H
#define MPI_WIN_OBJECT_EPOCH_H

#include "mpi/win/object/win.h"

/* Returns the name of the caller's epoch for messages. */
const char *vm_win_epoch_text(const struct vm_win *win);

/* Checks that an access epoch may begin: 0 or MPI_ERR_RMA_SYNC. */
int vm_check_epoch_begin(struct vm_call *call, const struct vm_win *win);

/* Checks that the assertion has no other bits. */
int vm_check_assert(struct vm_call *call, int asserted, int allowed);

/* Tells whether the epoch of the caller reaches a member. */
static inline bool vm_win_reaches(const struct vm_win *win, int rank)
{
	/* Pairs with the store in vm_win_lock_shared() (win/passive.h). */
	return VM_LIKELY(vm_win_load(win->open)) ||
	       atomic_load_explicit(&win->access[rank], memory_order_acquire) >
		       VM_WIN_LOCKING;
}

#endif
