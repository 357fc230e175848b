/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short data that members of other processes return into memory that they share
 * with the caller (core/window/reply.h): an access takes the next place, and who
 * waits moves what has come from there to the buffer.
 */
#ifndef MPI_WIN_FAR_SLOT_H
#define MPI_WIN_FAR_SLOT_H

#include "mpi/win/object/access.h"
#include "mpi/win/far/wire.h"

struct vm_far_slots;

/* Whether a member can return data so to the caller; and whether these. */
static inline bool vm_far_slots_are(const struct vm_win *win, int rank)
{
	return win->slots && win->places[rank].replies;
}

static inline bool vm_far_slot_fits(const struct vm_win *win, int rank,
				    const struct vm_data *into)
{
	return vm_far_slots_are(win, rank) && !into->layout &&
	       into->bytes <= VM_WINDOW_REPLY_BYTES;
}

/* Prepares the caller's places; without memory packets return all data. */
void vm_far_slots_open(struct vm_win *win);

/* Takes a place for an access to a member, whose data go to `into`; *sequence
 * is to be in its packet.  0 or a negative code of core; may switch. */
int vm_far_slot_take(struct vm_win *win, int rank, uint32_t *sequence,
		     const struct vm_data *into);

/* Whether accesses have no data yet. */
bool vm_far_slots_any(const struct vm_far_slots *slots);

/* Waits for the data of all accesses to a member, or to all (-1).  0 or a
 * negative code of core; may switch. */
int vm_far_slots_wait(struct vm_win *win, int rank);

#endif
