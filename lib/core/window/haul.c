/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Describing a load and taking its pieces.
 */
#include "core/window/haul.h"

/* No load has so many pieces. */
#define NO_PIECE UINT32_MAX

static uint64_t word(uint32_t number, uint32_t piece)
{
	return (uint64_t)number << 32 | piece;
}

void vm_window_haul_begin(struct vm_window_haul *haul,
			  const struct vm_window_load *load)
{
	/* Who still looks at the last one sees this before what follows. */
	atomic_store_explicit(&haul->next, word(load->number, NO_PIECE),
			      memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&haul->here, load->here, memory_order_relaxed);
	atomic_store_explicit(&haul->there, load->there, memory_order_relaxed);
	atomic_store_explicit(&haul->bytes, load->bytes, memory_order_relaxed);
	atomic_store_explicit(&haul->piece, load->piece, memory_order_relaxed);
	atomic_store_explicit(&haul->write, load->write, memory_order_relaxed);
	/* Pairs with the load in vm_window_haul_look(). */
	atomic_store_explicit(&haul->next, word(load->number, 0),
			      memory_order_release);
}

bool vm_window_haul_look(const struct vm_window_haul *haul,
			 struct vm_window_load *load, uint32_t number)
{
	uint64_t next = atomic_load_explicit(&haul->next, memory_order_acquire);

	if (next >> 32 != number || (uint32_t)next == NO_PIECE)
		return false;
	/* If it is over meanwhile no piece is taken. */
	*load = (struct vm_window_load){
		.here = atomic_load_explicit(&haul->here, memory_order_relaxed),
		.there = atomic_load_explicit(&haul->there,
					      memory_order_relaxed),
		.bytes = atomic_load_explicit(&haul->bytes,
					      memory_order_relaxed),
		.piece = atomic_load_explicit(&haul->piece,
					      memory_order_relaxed),
		.write = atomic_load_explicit(&haul->write,
					      memory_order_relaxed),
		.number = number,
	};
	return load->piece != 0;
}

bool vm_window_haul_take(struct vm_window_haul *haul,
			 const struct vm_window_load *load, uint64_t *at,
			 uint64_t *bytes)
{
	uint64_t next = atomic_load_explicit(&haul->next, memory_order_relaxed);

	do {
		*at = (uint64_t)(uint32_t)next * load->piece;
		if (next >> 32 != load->number || *at >= load->bytes)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&haul->next, &next, next + 1, memory_order_acq_rel,
		memory_order_relaxed));
	*bytes = load->bytes - *at < load->piece ? load->bytes - *at :
						   load->piece;
	return true;
}

void vm_window_haul_done(struct vm_window_haul *haul, uint32_t number,
			 bool failed)
{
	if (failed)
		atomic_store_explicit(&haul->failed, number,
				      memory_order_relaxed);
	/* Pairs with the load in vm_window_has_come(). */
	atomic_fetch_add_explicit(&haul->done, 1, memory_order_release);
}
