/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places for data that are returned.
 */
#include "mpi/win/far/slot.h"

#include <stdlib.h>

#include "core/window/wait.h"
#include "mpi/win/far/ask.h"

/* An access that has not got its data. */
struct far_slot {
	void *to;
	uint32_t bytes;
	uint32_t number; /* of the access */
	int rank;
	bool busy;
};

/* Changed under the window's lock; without it flushes look whether any is busy. */
struct vm_far_slots {
	_Atomic uint32_t first, next; /* numbers: none before `first` is busy */
	struct far_slot slots[VM_WINDOW_REPLIES];
};

static uint32_t first_of(const struct vm_far_slots *slots)
{
	/* Pairs with the store of a thread that has moved data for others. */
	return atomic_load_explicit(&slots->first, memory_order_acquire);
}

static uint32_t next_of(const struct vm_far_slots *slots)
{
	return atomic_load_explicit(&slots->next, memory_order_relaxed);
}

void vm_far_slots_open(struct vm_win *win)
{
	struct vm_far_slots *slots = win->tells ? calloc(1, sizeof(*slots)) :
						  NULL;

	if (!slots)
		return;
	/* No place has come to its first number. */
	atomic_init(&slots->first, VM_WINDOW_REPLIES);
	atomic_init(&slots->next, VM_WINDOW_REPLIES);
	win->slots = slots;
}

bool vm_far_slots_any(const struct vm_far_slots *slots)
{
	return slots && first_of(slots) != next_of(slots);
}

static struct far_slot *slot_of(struct vm_far_slots *slots, uint32_t number)
{
	return &slots->slots[number % VM_WINDOW_REPLIES];
}

/* Moves the data of one access to the caller's buffer, if they have come. */
static bool slot_end(struct vm_win *win, struct far_slot *slot)
{
	const struct vm_window_place *own = &win->places[win->comm.rank];
	struct vm_window_reply *reply = vm_window_reply(own, slot->number);
	struct vm_window_far *far = vm_far_of(win, slot->rank);

	if (!vm_window_has_come(&reply->told.come, slot->number))
		return false;
	if (VM_LIKELY(!reply->told.error)) {
		vm_copy(slot->to,
			vm_window_reply_data(own, slot->number, slot->bytes),
			slot->bytes);
	} else {
		vm_far_fault(far, reply->told.error);
		reply->told.error = 0;
	}
	slot->busy = false;
	return true;
}

/*
 * Ends what has come of the accesses to a member, or to all (-1), or of the
 * oldest one.  Returns whether one is left; *left is the first of them.
 */
static bool slots_end(struct vm_win *win, int rank, bool oldest,
		      struct far_slot *left)
{
	struct vm_far_slots *slots = win->slots;
	uint32_t first, end;
	bool all = true;

	vm_lock_take(&win->window->lock);
	first = first_of(slots);
	end = oldest ? first + 1 : next_of(slots);
	for (uint32_t i = first; i != end && all; i++) {
		struct far_slot *slot = slot_of(slots, i);

		if (!slot->busy || (rank >= 0 && slot->rank != rank))
			continue;
		all = slot_end(win, slot);
		if (!all)
			*left = *slot;
	}
	while (first != next_of(slots) && !slot_of(slots, first)->busy)
		first++;
	atomic_store_explicit(&slots->first, first, memory_order_release);
	vm_lock_give(&win->window->lock);
	return !all;
}

static int wait_for(struct vm_win *win, int rank, bool oldest)
{
	const struct vm_window_place *own = &win->places[win->comm.rank];
	struct far_slot left;
	int rc = 0;

	while (rc == 0 && slots_end(win, rank, oldest, &left))
		if (!vm_window_watch(
			    &vm_window_reply(own, left.number)->told.come,
			    left.number))
			rc = vm_far_ask_long(win, left.rank);
	return rc;
}

int vm_far_slots_wait(struct vm_win *win, int rank)
{
	const struct vm_far_slots *slots = win->slots;

	return vm_far_slots_any(slots) ? wait_for(win, rank, false) : 0;
}

int vm_far_slot_take(struct vm_win *win, int rank, uint32_t *sequence,
		     const struct vm_data *into)
{
	struct vm_far_slots *slots = win->slots;
	int rc;

	vm_lock_take(&win->window->lock);
	while (next_of(slots) - first_of(slots) == VM_WINDOW_REPLIES) {
		vm_lock_give(&win->window->lock);
		rc = wait_for(win, -1, true);
		if (rc != 0)
			return rc;
		vm_lock_take(&win->window->lock);
	}
	*sequence = next_of(slots);
	*slot_of(slots, *sequence) =
		(struct far_slot){ .to = into->addr,
				   .bytes = (uint32_t)into->bytes,
				   .number = *sequence,
				   .rank = rank,
				   .busy = true };
	atomic_store_explicit(&slots->next, *sequence + 1,
			      memory_order_relaxed);
	vm_lock_give(&win->window->lock);
	return 0;
}
