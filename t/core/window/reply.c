/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers in memory: what has come, and the places that are used in turn.
 */
#include "core/window/reply.h"

#include "core/window/wait.h"
#include "tap.h"

static struct vm_window_replies all;

int main(void)
{
	struct vm_window_place place = { .replies = &all };
	struct vm_window_reply *replies = all.places;
	struct vm_window_told told = { 0 };

	ok(!vm_window_has_come(&told.come, 1), "memory of zeros tells nothing");
	vm_window_tell(&told, 2, 0);
	ok(vm_window_has_come(&told.come, 1) &&
		   vm_window_has_come(&told.come, 2) &&
		   !vm_window_has_come(&told.come, 3),
	   "the second is told, and so are those before it");
	vm_window_tell(&told, 3, 7);
	vm_window_tell(&told, 4, 0);
	is_int(told.error, 7, "an error stays until it is cleared");
	ok(vm_window_reply(&place, VM_WINDOW_REPLIES) == &replies[0] &&
		   vm_window_reply(&place, UINT32_MAX) ==
			   &replies[VM_WINDOW_REPLIES - 1],
	   "places are used in turn, also when the numbers begin again");
	vm_window_tell(&replies[0].told, UINT32_MAX - VM_WINDOW_REPLIES + 1, 0);
	ok(!vm_window_has_come(&replies[0].told.come, 0),
	   "nothing has come to the first place in the next round");
	vm_window_tell(&replies[0].told, 0, 0);
	ok(vm_window_has_come(&replies[0].told.come, 0), "now it has");
	ok(vm_window_reply_data(&place, 65, 56) == replies[1].few &&
		   vm_window_reply_data(&place, 65, 57) == all.data[1] &&
		   vm_window_reply_data(&place, 63, 1024) == all.data[63],
	   "a few data are beside the word, more apart");
	return done_testing();
}
