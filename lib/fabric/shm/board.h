/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a process that all others of its host read: what it puts there once
 * they take without a call of the kernel, each in its own time.
 *
 * It is lent in slots of one size, one or more in a row, until so many have said
 * that they have read it.
 */
#ifndef FABRIC_SHM_BOARD_H
#define FABRIC_SHM_BOARD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/lock.h"

#define VM_BOARD_SLOTS 16u
#define VM_BOARD_SLOT_BYTES ((size_t)65536)
#define VM_BOARD_BYTES (VM_BOARD_SLOTS * VM_BOARD_SLOT_BYTES)

/* In the file of its process, whose pages are there once they are written to. */
struct vm_board {
	/* Who has not read yet what begins with this slot. */
	_Atomic uint32_t left[VM_BOARD_SLOTS] VM_ALIGNED(VM_CACHELINE);
	char data[VM_BOARD_BYTES] VM_ALIGNED(4096);
};

/* What its process knows of it. */
struct vm_board_own {
	struct vm_board *board;
	struct vm_lock lock;
	uint8_t first[VM_BOARD_SLOTS]; /* of what a slot was lent for last */
};

/* The board is zeros. */
void vm_board_open(struct vm_board_own *own, struct vm_board *board);

/* Lends memory until so many have read it; *slot says where it is.  NULL: no so
 * many bytes are free. */
char *vm_board_lend(struct vm_board_own *own, size_t bytes, uint32_t readers,
		    uint32_t *slot);

/* The memory at a slot that another process has named; NULL: it has not so many
 * bytes. */
const char *vm_board_at(const struct vm_board *board, uint32_t slot,
			size_t bytes);

/* One has read it; or nobody will. */
void vm_board_read(struct vm_board *board, uint32_t slot);
void vm_board_take_back(struct vm_board_own *own, uint32_t slot);

#endif
