/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets between processes of a host that the kernel does at once, by one
 * system call, whatever the target does meanwhile.
 *
 * Long ones are shorter that way; short ones if they are alone, or in a pile, and
 * all while the target does something else.
 */
#ifndef MPI_WIN_FAR_MOVE_H
#define MPI_WIN_FAR_MOVE_H

#include "core/window/haul.h"
#include "mpi/win/object/access.h"

/* Measures, for a window that is made, from how many bytes on. */
void vm_far_moves_open(struct vm_win *win);

/* Kinds of accesses between which the choice is made. */
enum vm_far_moved {
	VM_FAR_MOVED_PUT,
	VM_FAR_MOVED_GET,
	VM_FAR_MOVED_UPDATE,
	VM_FAR_MOVED_FETCH, /* an update that returns what was there */
	VM_FAR_MOVED_KINDS
};

/* Begins an access: whether the kernel is to do it, if it can.  asked: the caller
 * has a request. */
bool vm_far_move_wanted(struct vm_win *win, int rank, size_t bytes, bool gets,
			bool asked);

/* The same of an update (rmw.h). */
bool vm_far_rmw_wanted(struct vm_win *win, int rank, size_t bytes, bool gets);

/* Moves bytes, once what earlier epochs have sent is done, or puts that off; asked:
 * the caller has a request, and changes or reads them as soon as it returns.  0,
 * -VMPI_ENOTSUP: they have to go in packets, or an error.  May switch. */
int vm_far_move(struct vm_call *call, struct vm_win *win, int rank, void *here,
		char *there, size_t bytes, bool write, bool asked);

/* Moves bytes by one call of the kernel, alone.  0, -VMPI_ENOTSUP, or an error. */
int vm_far_transfer(const struct vm_win *win, int rank, void *here, void *there,
		    size_t bytes, bool write);

/* Moves a load at once, with the target's process if it `shares`.  0,
 * -VMPI_ENOTSUP, or an error; may switch. */
int vm_far_load(struct vm_win *win, int rank, const struct vm_load *load,
		bool write, bool shares);

/*
 * The pile (move_pile.c): puts to a member, or gets, that are put off until
 * one system call does them all: when they are many bytes, or others, or are waited
 * for.  Such a call takes a third of its own time for each place that it moves, and
 * places that lie behind each other are one.
 */

/* Makes a window's pile; false: it has none. */
bool vm_far_pile_open(struct vm_win *win);
void vm_far_pile_close(struct vm_win *win);

/* Whether there are accesses in it. */
bool vm_far_pile_any(const struct vm_far_pile *pile);

/* Puts an access off; copy: a put, whose buffer may change.  -VMPI_EAGAIN: it has
 * to be done at once.  As vm_far_pile_end(). */
int vm_far_pile_add(struct vm_win *win, int rank, char *here, char *there,
		    size_t bytes, bool write, bool copy);

/* Does what was put off for a member, or for any (-1); what of it fails is told by
 * that member's flush.  0, or -VMPI_EPEER: another thread does it, and a process of
 * the window is gone.  May switch. */
int vm_far_pile_end(struct vm_win *win, int rank);

/* Ends or forgets what is timed. */
void vm_far_timed_end(struct vm_far_choices *choices, bool done);

/* Accesses from now on are a row of their own; done: all of this one is. */
static inline void vm_far_row_end(struct vm_win *win, bool done)
{
	int row = vm_win_load(win->row);

	if (row)
		vm_win_store(win->alone, row == 1);
	vm_win_store(win->row, 0);
	if (win->choices)
		vm_far_timed_end(win->choices, done && row == 1);
}

#endif
