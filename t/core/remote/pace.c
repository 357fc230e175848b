/* SPDX-License-Identifier: BSD-3-Clause */
/* How soon the agent comes, after what its calls and looks were good for. */
#include "core/remote/pace.h"

#include "tap.h"

enum { FIRST = VM_PACE_NS };

struct duty {
	bool called, did, later;
};

static const struct duty in_vain = { true, false, false },
			 tested = { true, false, true },
			 looked = { false, false, true },
			 seen = { false, false, false },
			 found = { true, true, false },
			 found_later = { false, true, true };

/* So many times. */
static void leave(struct vm_pace *pace, struct duty duty, int times)
{
	for (int i = 0; i < times; i++)
		vm_pace_adapt(pace, duty.called, duty.did, duty.later);
}

static void calls(void)
{
	struct vm_pace pace;

	vm_pace_init(&pace);
	is_int(vm_pace_call_ns(&pace), FIRST, "at first it comes soon");
	leave(&pace, in_vain, 2);
	is_int(vm_pace_call_ns(&pace), 4 * FIRST,
	       "each call in vain doubles the time to the next");
	is_int(vm_pace_later_ns(&pace), FIRST,
	       "but not the time to a look of its own");
	leave(&pace, found, 1);
	is_int(vm_pace_call_ns(&pace), FIRST,
	       "it comes soon again after there was something to do");
	leave(&pace, tested, 3);
	is_int(vm_pace_call_ns(&pace), 8 * FIRST,
	       "a call is in vain too where ranks test");
	is_int(vm_pace_later_ns(&pace), 8 * FIRST, "and it looks later again");
	leave(&pace, tested, 100);
	ok(vm_pace_call_ns(&pace) >= VM_PACE_NS_MAX &&
		   vm_pace_call_ns(&pace) < 2 * (uint64_t)VM_PACE_NS_MAX,
	   "up to a limit");
	leave(&pace, found_later, 1);
	is_int(vm_pace_call_ns(&pace), FIRST,
	       "what a look of its own finds makes it come soon");
}

static void looks(void)
{
	struct vm_pace pace;

	vm_pace_init(&pace);
	leave(&pace, looked, 3);
	is_int(vm_pace_later_ns(&pace), 8 * FIRST,
	       "each look in vain doubles the time to the next");
	leave(&pace, seen, 1);
	is_int(vm_pace_call_ns(&pace), FIRST,
	       "looks of its own do not make it come later to a call");
	leave(&pace, found_later, 1);
	is_int(vm_pace_later_ns(&pace), FIRST, "until one finds something");
}

static unsigned doze(unsigned vain, int times)
{
	for (int i = 0; i < times; i++)
		vain = vm_pace_doze_vain(vain, false);
	return vain;
}

static void dozes(void)
{
	unsigned row = doze(0, VM_PACE_DOZE_ROW);

	is_int(vm_pace_doze_ns(doze(0, VM_PACE_DOZE_ROW - 1)), VM_PACE_DOZE_NS,
	       "a watcher looks after others' ports as often for a while");
	is_int(vm_pace_doze_ns(row), 2 * VM_PACE_DOZE_NS,
	       "and half as often after a row of looks in vain");
	is_int(vm_pace_doze_ns(doze(row, 100 * VM_PACE_DOZE_ROW)),
	       VM_PACE_DOZE_NS_MAX, "up to a limit");
	is_int(vm_pace_doze_ns(vm_pace_doze_vain(row, true)), VM_PACE_DOZE_NS,
	       "until one finds something");
}

int main(void)
{
	calls();
	looks();
	dozes();
	return done_testing();
}
