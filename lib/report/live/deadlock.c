/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that may go on are found in rounds: at first those that need nothing,
 * then those that need only them, until a round finds no new one.  All others
 * are stuck. Rounds go up and down in turn, since ranks often wait for their
 * neighbours.
 */
#include "report/live/deadlock.h"

struct search {
	struct vm_deadlock_rank *ranks;
	unsigned count;
	unsigned going; /* those who may go on */
	/* The findings of this round for one operation of all ranks.  Ranks
	 * that came since are seen in the next one. */
	unsigned group;
	bool come;
};

static bool is_blocked(const struct vm_deadlock_rank *rank)
{
	return rank->stuck || rank->need == VM_NEED_MIRACLE;
}

/* Whether a rank that waits in an operation of all will see all others: those
 * in it are there, the rest must be able to come. */
static bool all_come(struct search *search, unsigned group)
{
	if (search->group == group)
		return search->come;
	search->group = group;
	search->come = true;
	for (unsigned i = 0; i < search->count && search->come; i++)
		search->come = search->ranks[i].group == group ||
			       !is_blocked(&search->ranks[i]);
	return search->come;
}

static bool may_go(struct search *search, const struct vm_deadlock_rank *self)
{
	switch (self->need) {
	case VM_NEED_NOTHING:
		return true;
	case VM_NEED_ONE:
		return !is_blocked(&search->ranks[self->peer]);
	case VM_NEED_ANY:
		return search->going > 0;
	case VM_NEED_ALL:
		return all_come(search, self->group);
	case VM_NEED_MIRACLE:
		break;
	}
	return false;
}

/* Makes a round; returns whether it found a rank. */
static bool round_go(struct search *search, bool up)
{
	bool found = false;

	search->group = 0;
	for (unsigned n = 0; n < search->count; n++) {
		struct vm_deadlock_rank *rank =
			&search->ranks[up ? n : search->count - 1 - n];

		if (!rank->stuck || !may_go(search, rank))
			continue;
		rank->stuck = false;
		search->going++;
		found = true;
	}
	return found;
}

unsigned vm_deadlock_find(struct vm_deadlock_rank *ranks, unsigned count)
{
	struct search search = { .ranks = ranks, .count = count };
	unsigned waiting = 0, first;
	bool up = true;

	for (unsigned i = 0; i < count; i++) {
		ranks[i].stuck = ranks[i].need != VM_NEED_NOTHING &&
				 ranks[i].need != VM_NEED_MIRACLE;
		waiting += ranks[i].stuck;
		search.going += ranks[i].need == VM_NEED_NOTHING;
	}
	first = search.going;
	while (round_go(&search, up))
		up = !up;
	return waiting - (search.going - first);
}

/* The rank that a stuck one waits for: of several the first that is stuck, or
 * ended. */
static unsigned next_of(const struct vm_deadlock_rank *ranks, unsigned count,
			unsigned i)
{
	const struct vm_deadlock_rank *self = &ranks[i];

	if (self->need == VM_NEED_ONE)
		return self->peer;
	for (unsigned n = 0; n < count; n++) {
		const struct vm_deadlock_rank *other = &ranks[n];

		if (n == i ||
		    (self->need == VM_NEED_ALL && other->group == self->group))
			continue;
		if (is_blocked(other))
			return n;
	}
	return i;
}

unsigned vm_deadlock_circle(unsigned *circle, unsigned *ended,
			    const struct vm_deadlock_rank *ranks,
			    unsigned count)
{
	unsigned at = 0, from, length = 0;

	while (!ranks[at].stuck)
		at++;
	/* After so many steps it is in the circle, if there is one. */
	for (unsigned i = 0; i < count; i++) {
		at = next_of(ranks, count, at);
		if (ranks[at].need == VM_NEED_MIRACLE) {
			*ended = at;
			return 0;
		}
	}
	/* Goes round once more for the lowest. */
	from = at;
	for (unsigned n = next_of(ranks, count, at); n != at;
	     n = next_of(ranks, count, n))
		if (n < from)
			from = n;
	at = from;
	do {
		circle[length++] = at;
		at = next_of(ranks, count, at);
	} while (at != from && length < count);
	return length;
}
