/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of an origin to members in other processes, and questions: packets
 * that are answered.
 */
#ifndef MPI_WIN_FAR_ASK_H
#define MPI_WIN_FAR_ASK_H

#include "mpi/win/object/access.h"
#include "mpi/win/far/wire.h"

/* What the caller knows of a member. */
struct vm_window_far *vm_far_of(const struct vm_win *win, int rank);

/* Sends a packet: 0 or -VMPI_EPEER. */
int vm_far_send(struct vm_win *win, int rank, struct vm_window_head *head,
		const void *data, size_t bytes);

/* The same with one row of the target's. */
int vm_far_send_row(struct vm_win *win, int rank, struct vm_window_head *head,
		    const struct vm_far_run *run, const void *data,
		    size_t bytes);

/* Opens a question on the caller's stack; data that come go to `into`, if that
 * is not NULL. */
void vm_far_question_open(struct vm_window *window,
			  struct vm_far_question *question,
			  struct vm_rows *into);
/* One more packet, which is about to be sent, will be answered. */
void vm_far_question_asks(struct vm_window *window,
			  struct vm_far_question *question);
/* Waits until at most so many answers are left; the second for all answers, and
 * ends the question: rc, if there is an error already.  May switch. */
int vm_far_question_wait(struct vm_window *window,
			 struct vm_far_question *question, uint32_t most);
int vm_far_question_end(struct vm_window *window,
			struct vm_far_question *question, int rc);

/*
 * Opens the question of an access whose answers are waited for by a flush
 * (vm_far_flush_local()), and says that all its packets are sent.  *question is
 * set if there is one to say that of, also if there is an error: MPI_ERR_NO_MEM
 * or a negative code of core.  An access of one packet is open for this one, and
 * says nothing.  May switch.
 */
int vm_far_later_open(struct vm_access *access,
		      struct vm_far_question **question,
		      const struct vm_rows *into);
int vm_far_later_one(struct vm_win *win, int rank, uint32_t *sequence,
		     const struct vm_rows *into);
void vm_far_later_sent(struct vm_window *window,
		       struct vm_far_question *question);

/* Where a member tells the caller that all is done that it has asked about;
 * NULL: it answers by packets. */
static inline struct vm_window_told *vm_far_told(const struct vm_win *win,
						 int rank)
{
	return win->tells && win->places[rank].told ?
		       &win->places[win->comm.rank].told[rank] :
		       NULL;
}

/* Asks a member whether all is done that came before; waits until at most so
 * many of these are open.  0 or -VMPI_EPEER; the second may switch. */
int vm_far_ask(struct vm_win *win, int rank);
int vm_far_ask_wait(struct vm_win *win, int rank, uint32_t most);

/* As vm_far_send_row(), of an access that a member will tell to be done, if it is
 * the first one to it since a flush. */
int vm_far_ask_along(struct vm_win *win, int rank, struct vm_window_head *head,
		     const struct vm_far_run *run, const void *data,
		     size_t bytes);

/* Asks by a packet, and waits for the answer however long it takes: then all is
 * done, and all is stored that is told.  0 or -VMPI_EPEER.  May switch. */
int vm_far_ask_long(struct vm_win *win, int rank);

/* Whether nothing is under way to a member, nor to others: as behind a lone access
 * that the kernel has moved. */
bool vm_far_is_still(const struct vm_win *win, int rank);

/* Whether a member that took long to answer still does, as far as is known. */
bool vm_far_is_away(struct vm_win *win, int rank);

#endif
