/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of a window in other processes: accesses, locks and posts as packets,
 * unless these share their memory with the caller's.
 *
 * The caller cuts an access into packets of rows: where they are in the
 * target's memory, and the elements.  Whoever polls for the target applies
 * them, in order, so the answer to a question that comes behind them says that
 * they are done.  Data that are returned are waited for when the epoch, or a
 * flush, says that they have to be there.
 */
#ifndef MPI_WIN_FAR_FAR_H
#define MPI_WIN_FAR_FAR_H

#include "mpi/win/object/access.h"

/* Tells whether nothing but packets reaches a member's memory. */
static inline bool vm_win_is_far(const struct vm_win *win, int rank)
{
	return !win->places[rank].common;
}

/* Prepares an end for packets: 0 or MPI_ERR_NO_MEM. */
int vm_far_open(struct vm_win *win);

/* Forgets the answers that nobody will wait for. */
void vm_far_close(struct vm_win *win);

/* A put or get of bytes that are checked: 0 or an MPI error; may switch. */
int vm_far_quick(struct vm_call *call, struct vm_win *win, int rank, void *buf,
		 char *place, size_t bytes, bool gets);

/* The same in packets; 0 or a negative code of core. */
int vm_far_bytes(struct vm_win *win, int rank, void *buf, char *place,
		 size_t bytes, bool gets);

/* A checked put or get, an update, a swap.  0 or an MPI error; may switch. */
int vm_far_copy(struct vm_call *call, struct vm_access *access);
int vm_far_update(struct vm_call *call, struct vm_access *access);
int vm_far_swap(struct vm_call *call, struct vm_access *access,
		const void *compare);

/* Wait until all accesses to a member, or to all, are done.  0, what a target
 * has refused, or a negative code of core.  May switch. */
int vm_far_flush(struct vm_call *call, struct vm_win *win, int rank);
int vm_far_flush_all(struct vm_call *call, struct vm_win *win);

/* Accesses to a member end with what is said to it next, by a packet if the
 * member is dirty now: it will be behind them.  As vm_far_flush(). */
int vm_far_end(struct vm_call *call, struct vm_win *win, int rank);
bool vm_far_is_dirty(const struct vm_win *win, int rank);

/* The same, until the caller's buffers are not used any more. */
int vm_far_flush_local(struct vm_call *call, struct vm_win *win, int rank);
int vm_far_flush_local_all(struct vm_call *call, struct vm_win *win);

/* As core/window/claim.h and post.h.  0 or a negative code of core. */
int vm_far_lock_wait(struct vm_win *win, int rank, bool exclusive);
int vm_far_unlock(struct vm_win *win, int rank, bool exclusive);
int vm_far_grant(struct vm_win *win, int rank);
int vm_far_post(struct vm_win *win, int rank);
int vm_far_complete(struct vm_win *win, int rank);
/* As vm_window_told(), of a member of another process. */
int vm_far_wake(struct vm_win *win, int rank);

#endif
