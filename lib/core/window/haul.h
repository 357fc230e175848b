/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many bytes that two processes of a host move together: each takes the next
 * piece that nobody has, and has the kernel move it.
 *
 * The origin describes them in memory that both share, tells the target's
 * process, and begins; if the other one is late it has less to do, or nothing.
 * A description has a number, so that who comes when it is over takes nothing of
 * the next one.
 */
#ifndef CORE_WINDOW_HAUL_H
#define CORE_WINDOW_HAUL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Memory of zeros is one without any. */
struct vm_window_haul {
	/* The number << 32, and the next piece. */
	_Atomic uint64_t next VM_ALIGNED(VM_CACHELINE);
	/* Of the origin's, and the target's, where each is; constant while a
	 * piece is left. */
	_Atomic uint64_t here, there;
	_Atomic uint64_t bytes;
	_Atomic uint32_t piece; /* bytes of one, but of the last */
	_Atomic uint32_t write; /* to the target */
	/* Pieces that others have moved, of all numbers; and the number of the
	 * last one of which they could not. */
	_Atomic uint32_t done VM_ALIGNED(VM_CACHELINE);
	_Atomic uint32_t failed;
};

/* What one side knows of it. */
struct vm_window_load {
	uint64_t here, there, bytes;
	uint32_t number, piece;
	bool write;
};

/* Describes a load; its number is not that of the last one. */
void vm_window_haul_begin(struct vm_window_haul *haul,
			  const struct vm_window_load *load);

/* Reads the load of that number; false: there is nothing left of it. */
bool vm_window_haul_look(const struct vm_window_haul *haul,
			 struct vm_window_load *load, uint32_t number);

/* Takes a piece of a load: where it begins, and its bytes; false: none is
 * left. */
bool vm_window_haul_take(struct vm_window_haul *haul,
			 const struct vm_window_load *load, uint64_t *at,
			 uint64_t *bytes);

/* The other side has done with a piece. */
void vm_window_haul_done(struct vm_window_haul *haul, uint32_t number,
			 bool failed);

#endif
