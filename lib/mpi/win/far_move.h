/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets between processes of a host that the kernel does at once, by one
 * system call, whatever the target does meanwhile.
 *
 * Long ones are shorter that way; of short ones only those that are alone, as
 * packets follow each other faster than system calls, or all while the target
 * does something else.
 */
#ifndef MPI_WIN_FAR_MOVE_H
#define MPI_WIN_FAR_MOVE_H

#include "mpi/win/access.h"

/* Measures, for a window that is made, from how many bytes on. */
void vm_far_moves_open(struct vm_win *win);

/* Begins an access: whether the kernel is to do it, if it can. */
bool vm_far_move_wanted(struct vm_win *win, int rank, size_t bytes);

/* Moves bytes, once what earlier epochs have sent is done.  0, -VMPI_ENOTSUP:
 * they have to go in packets, or an error.  May switch. */
int vm_far_move(struct vm_call *call, struct vm_win *win, int rank, void *here,
		char *there, size_t bytes, bool write);

/* What was begun is done: accesses from now on are a row of their own. */
static inline void vm_far_row_end(struct vm_win *win)
{
	if (win->row)
		win->alone = win->row == 1;
	win->row = 0;
}

#endif
