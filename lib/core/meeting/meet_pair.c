/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for a member that is behind.
 */
#include "core/meeting/meet_pair.h"

void vm_meet_pair_room(const struct vm_chan *chan, struct vm_meet_worker *self)
{
	uint32_t number = self->number - VM_MEET_HALF;

	if (!vm_meet_is_before(self->heard, number))
		return;
	/* All since then have been posts of one who has gone, which the other
	 * says that it has taken. */
	vm_meet_post_wait(self, &self->other->taken[number / VM_MEET_HALF & 1],
			  number, chan);
	self->heard = number;
}
