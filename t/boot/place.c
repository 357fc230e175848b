/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of ranks: every rank has one process, every process a rank, and both
 * directions agree.
 */
#include "boot/place.h"

#include <stdbool.h>
#include <stddef.h>

#include "tap.h"
#include "vmpi.h"

#define MOST 40

/* Whether first is a division of `ranks` into blocks that differ by one at
 * most, the larger ones first, and vm_place_process() inverts it. */
static bool is_right(const int *first, int processes, int ranks)
{
	int low = ranks / processes;

	if (first[0] != 0 || first[processes] != ranks)
		return false;
	for (int p = 0; p < processes; p++) {
		int count = first[p + 1] - first[p];

		if (count < low || count > low + 1 || count < 1)
			return false;
		for (int r = first[p]; r < first[p + 1]; r++)
			if (vm_place_process(first, processes, r) != p)
				return false;
	}
	return true;
}

static void equal_test(void)
{
	int first[MOST + 1];
	int wrong = 0, accepted = 0;

	for (int p = 1; p <= MOST; p++)
		for (int r = p; r <= 3 * MOST; r++)
			wrong += vm_place_fill(first, p, r, NULL) != 0 ||
				 !is_right(first, p, r);
	is_int(wrong, 0, "equal blocks hold each rank once, for all sizes");
	for (int p = 1; p <= MOST; p++)
		for (int r = -1; r < p; r++)
			accepted += vm_place_fill(first, p, r, NULL) == 0;
	is_int(accepted, 0, "fewer ranks than processes are refused");
	ok(vm_place_fill(first, 0, 4, NULL) < 0, "so are no processes");
	vm_place_fill(first, 2, 5, NULL);
	is_int(first[1], 3, "of 5 ranks the first of 2 processes has 3");
	vm_place_fill(first, 3, 1000000, NULL);
	is_int(first[3], 1000000, "a million ranks are no problem");
}

static void blocks_test(void)
{
	static const char *const wrong[] = {
		"",	 "6",	 "6,2,0", "6,3",   "5,2",	    "0,8",
		"8,0",	 "6,2,", ",6,2",  "6, 2",  "6;2",	    "-6,14",
		"6,2x",	 "+6,2", "6,,2",  "7,1,1", "99999999999,2", "x",
		"6,2\n", "8",
	};
	int first[3];

	is_int(vm_place_fill(first, 2, 8, "6,2"), 0, "blocks are taken");
	is_int(first[1], 6, "the second begins behind the first");
	is_int(first[2], 8, "and the end is that of the ranks");
	is_int(vm_place_process(first, 2, 5), 0, "5 is in the first");
	is_int(vm_place_process(first, 2, 6), 1, "6 is in the second");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		is_int(vm_place_fill(first, 2, 8, wrong[i]), -VMPI_EINVAL,
		       "'%s' is no division of 8 ranks", wrong[i]);
}

int main(void)
{
	equal_test();
	blocks_test();
	return done_testing();
}
