/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cards from one process to another one in memory that they share: one writes
 * them, the other one takes each when it wants it, and until then it costs nothing.
 *
 * A card is a cache line, whose turn says whether it is written.
 */
#ifndef FABRIC_SHM_LANE_H
#define FABRIC_SHM_LANE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define VM_LANE_CARDS 256
#define VM_CARD_BYTES 40

/* What a card is and whom it is for, in words of the layer above. */
struct vm_card_head {
	uint32_t bytes; /* of data */
	uint32_t to;
	uint32_t context;
	int32_t source, tag;
};

struct vm_card {
	_Atomic uint32_t turn; /* its number + 1 once it is there */
	struct vm_card_head head;
	char data[VM_CARD_BYTES];
};

VM_STATIC_ASSERT(sizeof(struct vm_card) == VM_CACHELINE,
		 "a card is a cache line");

/* Memory of zeros is an empty lane.  The reader trusts nothing in it. */
struct vm_lane {
	_Atomic uint32_t taken VM_ALIGNED(VM_CACHELINE); /* by the reader */
	struct vm_card cards[VM_LANE_CARDS] VM_ALIGNED(VM_CACHELINE);
};

#endif
