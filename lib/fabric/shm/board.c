/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first slots that are free are lent, which were used lately and are in the
 * caches still.
 */
#include "fabric/shm/board.h"

void vm_board_open(struct vm_board_own *own, struct vm_board *board)
{
	own->board = board;
	vm_lock_init(&own->lock);
	for (uint32_t i = 0; i < VM_BOARD_SLOTS; i++)
		own->first[i] = (uint8_t)i;
}

static bool is_free(const struct vm_board_own *own, uint32_t slot)
{
	/* Pairs with the subtraction in vm_board_read(). */
	return !atomic_load_explicit(&own->board->left[own->first[slot]],
				     memory_order_acquire);
}

/* The first of so many slots in a row that are free; VM_BOARD_SLOTS: there are
 * none. */
static uint32_t row_find(const struct vm_board_own *own, uint32_t count)
{
	uint32_t free = 0;

	for (uint32_t i = 0; i < VM_BOARD_SLOTS; i++) {
		free = is_free(own, i) ? free + 1 : 0;
		if (free == count)
			return i + 1 - count;
	}
	return VM_BOARD_SLOTS;
}

/* Slots behind them that were lent together with some of them are on their own
 * now. */
static void row_take(struct vm_board_own *own, uint32_t at, uint32_t count)
{
	for (uint32_t i = at + count; i < VM_BOARD_SLOTS; i++)
		if (own->first[i] >= at && own->first[i] < at + count)
			own->first[i] = (uint8_t)i;
	for (uint32_t i = at; i < at + count; i++)
		own->first[i] = (uint8_t)at;
}

char *vm_board_lend(struct vm_board_own *own, size_t bytes, uint32_t readers,
		    uint32_t *slot)
{
	uint32_t count, at;

	if (!bytes || bytes > VM_BOARD_BYTES || !readers)
		return NULL;
	count = (uint32_t)((bytes + VM_BOARD_SLOT_BYTES - 1) /
			   VM_BOARD_SLOT_BYTES);
	vm_lock_take(&own->lock);
	at = row_find(own, count);
	if (at < VM_BOARD_SLOTS) {
		row_take(own, at, count);
		atomic_store_explicit(&own->board->left[at], readers,
				      memory_order_relaxed);
	}
	vm_lock_give(&own->lock);
	if (at == VM_BOARD_SLOTS)
		return NULL;
	*slot = at;
	return own->board->data + at * VM_BOARD_SLOT_BYTES;
}

const char *vm_board_at(const struct vm_board *board, uint32_t slot,
			size_t bytes)
{
	if (slot >= VM_BOARD_SLOTS ||
	    bytes > (VM_BOARD_SLOTS - slot) * VM_BOARD_SLOT_BYTES)
		return NULL;
	return board->data + slot * VM_BOARD_SLOT_BYTES;
}

void vm_board_read(struct vm_board *board, uint32_t slot)
{
	/* Pairs with the load in is_free(): what has been read may be
	 * overwritten. */
	atomic_fetch_sub_explicit(&board->left[slot], 1, memory_order_release);
}

void vm_board_take_back(struct vm_board_own *own, uint32_t slot)
{
	atomic_store_explicit(&own->board->left[slot], 0, memory_order_relaxed);
}
