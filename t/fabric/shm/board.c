/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A board lends memory until all have read it, and the same memory again then; names
 * of memory that it has not are refused.
 */
#include "fabric/shm/board.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { SLOT = VM_BOARD_SLOT_BYTES, ALL = VM_BOARD_BYTES };

static struct vm_board *board;
static struct vm_board_own own;

static void one_at_a_time(void)
{
	uint32_t slot = 99, again = 99;
	char *first = vm_board_lend(&own, 100, 2, &slot), *second;

	ok(first && vm_board_at(board, slot, 100) == first,
	   "others find what is lent");
	second = vm_board_lend(&own, 100, 1, &again);
	ok(second >= first + SLOT || second + SLOT <= first,
	   "what comes next is elsewhere");
	vm_board_read(board, again);
	vm_board_read(board, slot);
	ok(vm_board_lend(&own, 100, 1, &again) != first,
	   "one of two has not read it");
	vm_board_read(board, again);
	vm_board_read(board, slot);
	ok(vm_board_lend(&own, 100, 1, &again) == first,
	   "all have: it is lent again");
	vm_board_take_back(&own, again);
	ok(vm_board_lend(&own, 100, 1, &again) == first,
	   "and when it was taken back");
	vm_board_read(board, again);
}

static void in_a_row(void)
{
	uint32_t slots[VM_BOARD_SLOTS], slot, count = 0;
	char *data;

	while (count < VM_BOARD_SLOTS &&
	       vm_board_lend(&own, SLOT, 1, &slots[count]))
		count++;
	is_int(count, VM_BOARD_SLOTS, "all of it is lent");
	ok(!vm_board_lend(&own, 1, 1, &slot), "then there is nothing");
	vm_board_read(board, slots[3]);
	vm_board_read(board, slots[5]);
	ok(!vm_board_lend(&own, SLOT + 1, 1, &slot), "no two in a row");
	vm_board_read(board, slots[4]);
	data = vm_board_lend(&own, 3 * SLOT, 1, &slot);
	ok(data && slot == slots[3], "three in a row");
	memset(data, 1, 3 * SLOT);
	for (uint32_t i = 0; i < count; i++)
		if (i < 3 || i > 5)
			vm_board_read(board, slots[i]);
	ok(!vm_board_lend(&own, ALL, 1, &slots[0]), "three are in use");
	vm_board_read(board, slot);
	ok(vm_board_lend(&own, ALL, 1, &slot) != NULL, "all of it at once");
	vm_board_read(board, slot);
	vm_board_lend(&own, 1, 1, &slot);
	ok(vm_board_lend(&own, ALL - SLOT, 1, &slots[0]) != NULL,
	   "what is behind one of them");
	vm_board_read(board, slots[0]);
	vm_board_read(board, slot);
}

static void refused(void)
{
	uint32_t slot;

	ok(!vm_board_lend(&own, ALL + 1, 1, &slot), "more than there is");
	ok(!vm_board_lend(&own, 0, 1, &slot), "nothing");
	ok(!vm_board_at(board, VM_BOARD_SLOTS, 0), "no such slot");
	ok(!vm_board_at(board, 1, ALL) && vm_board_at(board, 0, ALL),
	   "so much is not behind it");
}

int main(void)
{
	plan(16);
	board = aligned_alloc(_Alignof(struct vm_board), sizeof(*board));
	if (!board)
		bail("no memory");
	memset(board, 0, sizeof(*board));
	vm_board_open(&own, board);
	one_at_a_time();
	in_a_row();
	refused();
	free(board);
	return done_testing();
}
