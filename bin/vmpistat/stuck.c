/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who may go on is found in rounds: at first those who need nothing, then those
 * who need only them, until a round finds nobody new.  All others are stuck.
 */
#include "stuck.h"

#include <string.h>

/* Whether a rank that waits in an operation of all gets everybody: those in it
 * are there, others have to be able to come. */
static bool all_come(const struct waiter *waiters, unsigned count,
		     unsigned group)
{
	for (unsigned i = 0; i < count; i++) {
		const struct waiter *other = &waiters[i];

		if (other->need == NEED_ALL && other->group == group)
			continue;
		if (other->stuck || other->need == NEED_MIRACLE)
			return false;
	}
	return true;
}

static bool any_goes(const struct waiter *waiters, unsigned count,
		     unsigned self)
{
	for (unsigned i = 0; i < count; i++)
		if (i != self && !waiters[i].stuck &&
		    waiters[i].need != NEED_MIRACLE)
			return true;
	return false;
}

static bool may_go(const struct waiter *waiters, unsigned count, unsigned i)
{
	const struct waiter *self = &waiters[i];

	switch (self->need) {
	case NEED_NOTHING:
		return true;
	case NEED_ONE:
		return !waiters[self->peer].stuck &&
		       waiters[self->peer].need != NEED_MIRACLE;
	case NEED_ANY:
		return any_goes(waiters, count, i);
	case NEED_ALL:
		return all_come(waiters, count, self->group);
	case NEED_MIRACLE:
		break;
	}
	return false;
}

unsigned stuck_find(struct waiter *waiters, unsigned count)
{
	unsigned stuck = 0;
	bool found = true;

	for (unsigned i = 0; i < count; i++) {
		waiters[i].stuck = waiters[i].need != NEED_NOTHING &&
				   waiters[i].need != NEED_MIRACLE;
		stuck += waiters[i].stuck;
	}
	while (found) {
		found = false;
		for (unsigned i = 0; i < count; i++) {
			if (!waiters[i].stuck || !may_go(waiters, count, i))
				continue;
			waiters[i].stuck = false;
			found = true;
			stuck--;
		}
	}
	return stuck;
}

/* Whom a stuck rank waits for: of several the first that is stuck, or ended. */
static unsigned next_of(const struct waiter *waiters, unsigned count,
			unsigned i)
{
	const struct waiter *self = &waiters[i];

	if (self->need == NEED_ONE)
		return self->peer;
	for (unsigned n = 0; n < count; n++) {
		const struct waiter *other = &waiters[n];

		if (n == i ||
		    (self->need == NEED_ALL && other->need == NEED_ALL &&
		     other->group == self->group))
			continue;
		if (other->stuck || other->need == NEED_MIRACLE)
			return n;
	}
	return i;
}

unsigned stuck_circle(unsigned *circle, unsigned *ended,
		      const struct waiter *waiters, unsigned count,
		      unsigned from)
{
	unsigned at = from, length = 0;

	/* After so many steps it is in the circle, if there is one. */
	for (unsigned i = 0; i < count; i++) {
		at = next_of(waiters, count, at);
		if (waiters[at].need == NEED_MIRACLE) {
			*ended = at;
			return 0;
		}
	}
	/* Once round for the lowest. */
	from = at;
	for (unsigned n = next_of(waiters, count, at); n != at;
	     n = next_of(waiters, count, n))
		if (n < from)
			from = n;
	at = from;
	do {
		circle[length++] = at;
		at = next_of(waiters, count, at);
	} while (at != from && length < count);
	return length;
}
