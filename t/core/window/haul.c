/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads of two: each piece is taken once, and none of a load that is over.
 */
#include "core/window/haul.h"

#include "tap.h"

static struct vm_window_haul haul;

static void taken_in_turn(void)
{
	struct vm_window_load load = { .here = 1000,
				       .there = 2000,
				       .bytes = 250,
				       .piece = 100,
				       .number = 1,
				       .write = true },
			      seen;
	uint64_t at, bytes, sum = 0;

	ok(!vm_window_haul_look(&haul, &seen, 1), "memory of zeros has none");
	vm_window_haul_begin(&haul, &load);
	ok(vm_window_haul_look(&haul, &seen, 1) && seen.here == 1000 &&
		   seen.there == 2000 && seen.bytes == 250 &&
		   seen.piece == 100 && seen.write,
	   "the other side sees what is to be moved");
	for (uint64_t i = 0; i < 3; i++) {
		bool mine = i != 1;

		ok(vm_window_haul_take(&haul, mine ? &load : &seen, &at,
				       &bytes) &&
			   at == 100 * i,
		   "piece %d goes to who asks", (int)i);
		sum += bytes;
	}
	is_int(sum, 250, "the last one is what is left");
	ok(!vm_window_haul_take(&haul, &load, &at, &bytes) &&
		   !vm_window_haul_take(&haul, &seen, &at, &bytes),
	   "then there are none");
}

static void over(void)
{
	struct vm_window_load first = { .bytes = 200,
					.piece = 100,
					.number = 7 },
			      second = { .bytes = 900,
					 .piece = 300,
					 .number = 8 },
			      seen;
	uint64_t at, bytes;

	vm_window_haul_begin(&haul, &first);
	ok(vm_window_haul_look(&haul, &seen, 7), "one side has seen a load");
	vm_window_haul_begin(&haul, &second);
	ok(!vm_window_haul_take(&haul, &seen, &at, &bytes),
	   "it takes nothing of the next one");
	ok(!vm_window_haul_look(&haul, &seen, 7) &&
		   vm_window_haul_look(&haul, &seen, 8),
	   "which it sees when it knows the number");
	vm_window_haul_done(&haul, 8, false);
	ok(atomic_load(&haul.done) == 1 && atomic_load(&haul.failed) == 0,
	   "what it has done is counted");
	vm_window_haul_done(&haul, 8, true);
	ok(atomic_load(&haul.done) == 2 && atomic_load(&haul.failed) == 8,
	   "and of which load it could not");
}

int main(void)
{
	taken_in_turn();
	over();
	return done_testing();
}
