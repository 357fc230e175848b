/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A card has the number of a slot of the board, and one more.
 */
#include "core/meeting/leaders_board.h"

#include "core/meeting/leaders_talk.h"
#include "core/meeting/meet.h"
#include "core/rank/rank.h"
#include "core/rank/state.h"
#include "fabric/shm/board.h"

bool vm_leaders_board_reaches(const struct vm_leaders *leaders)
{
	if (!vm_node->fabric)
		return false;
	for (int p = 0; p < leaders->count; p++)
		if (p != leaders->self &&
		    !vm_fabric_board_of(vm_node->fabric,
					leaders->processes[p].process))
			return false;
	return true;
}

char *vm_leaders_board_post(struct vm_leaders_card *card, size_t bytes,
			    uint32_t readers)
{
	struct vm_board_own *own =
		vm_node->fabric ? vm_fabric_board(vm_node->fabric) : NULL;
	uint32_t slot;
	char *data;

	if (!own)
		return NULL;
	data = vm_board_lend(own, bytes, readers, &slot);
	if (data)
		card->board = slot + 1;
	return data;
}

void vm_leaders_board_take_back(struct vm_leaders_card *card)
{
	vm_board_take_back(vm_fabric_board(vm_node->fabric), card->board - 1);
	card->board = 0;
}

/* The board of a process, and *slot, as its card tells; NULL: it tells of none. */
static struct vm_board *told_by(const struct vm_leaders *leaders, int process,
				const struct vm_leaders_card *card,
				uint32_t *slot)
{
	if (!card || !card->board || card->board > VM_BOARD_SLOTS ||
	    !vm_node->fabric)
		return NULL;
	*slot = card->board - 1;
	return process == leaders->self ?
		       vm_fabric_board(vm_node->fabric)->board :
		       vm_fabric_board_of(vm_node->fabric,
					  leaders->processes[process].process);
}

static struct vm_board *told(const struct vm_meet *meet, int process,
			     uint32_t *slot)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_leaders_card *card;
	size_t bytes;

	if (process == leaders->self)
		card = (const struct vm_leaders_card *)meet->talks[process]
			       .heads->out.data;
	else
		card = vm_leaders_card_of(meet, process, &bytes);
	return told_by(leaders, process, card, slot);
}

const char *vm_leaders_board_of(const struct vm_meet *meet, int process,
				size_t bytes)
{
	uint32_t slot;
	const struct vm_board *board = told(meet, process, &slot);

	return board ? vm_board_at(board, slot, bytes) : NULL;
}

void vm_leaders_board_read(const struct vm_meet *meet, int process)
{
	uint32_t slot;
	struct vm_board *board = told(meet, process, &slot);

	if (board)
		vm_board_read(board, slot);
}

void vm_leaders_board_drop(const struct vm_leaders *leaders, int process,
			   const struct vm_leaders_card *card)
{
	uint32_t slot;
	struct vm_board *board = told_by(leaders, process, card, &slot);

	if (board)
		vm_board_read(board, slot);
}
