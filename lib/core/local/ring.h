/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings: 64-byte slots from one worker to another, one cache line per small
 * message, flag and payload together; only the sender writes it.
 *
 * There is one for each pair, whose slots take memory once they are used.
 */
#ifndef CORE_LOCAL_RING_H
#define CORE_LOCAL_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/watch.h"
#include "core/local/msg.h"
#include "core/rank/match.h"

#define VM_RING_SLOTS 128u

/* A message on its way; filled by the sending worker, then `lap` is set. */
struct vm_slot {
	_Atomic uint8_t lap; /* vm_ring_lap() of the number it has */
	uint8_t payload;     /* enum vm_payload */
	uint8_t inline_bytes;
	struct vm_env env;
	uint32_t rank;	    /* destination, in the world */
	uint32_t signature; /* while signatures are wanted */
	union {
		char inline_data[VM_INLINE_MAX];
		struct {
			void *buffer;
			size_t bytes;
			struct vm_req *sender;
		} by_address;
		struct {
			void (*run)(void *arg, void *more);
			void *arg, *more;
			uint64_t words[2]; /* of a note */
		} call;
	};
} VM_ALIGNED(VM_CACHELINE);

VM_STATIC_ASSERT(sizeof(struct vm_slot) == 64, "a slot is one cache line");

/*
 * A slot is full when it has the lap of the reader's number, so that only the
 * writer writes slots.  The writer looks at the tail when it knows of no free
 * slot any more, once for many.  A ring of zeros has never been used.
 */
struct vm_ring {
	_Atomic(struct vm_slot *) slots; /* NULL: none yet */
	/* The writer's: the number of the next slot, and of the first one that
	 * it does not know to be free. */
	uint32_t head VM_ALIGNED(VM_CACHELINE);
	uint32_t end;
	uint32_t helped; /* ... the tail after it has emptied the ring itself */
	/* ... slots from `end` - VM_RING_SLOTS on whose payload is lent until
	 * they are given back; in engine->lending while there are some. */
	uint32_t lent;
	struct vm_list link;
	/* ... behind the last slot whose sender waits. */
	_Atomic uint32_t urgent;
	_Atomic uint32_t told; /* base/watch.h */
	/* The number of the next slot to take; under the lock. */
	_Atomic uint32_t next VM_ALIGNED(VM_CACHELINE);
	bool borrowed;		   /* likewise: one of those taken was lent */
	struct vm_watched watched; /* of the reading worker */
	/* Those before it are the writer's again; likewise. */
	_Atomic uint32_t tail VM_ALIGNED(VM_CACHELINE);
};

/* What tells a slot from that of the round before, and never a new one. */
static inline uint8_t vm_ring_lap(uint32_t number)
{
	return (uint8_t)(number / VM_RING_SLOTS + 1);
}

static inline struct vm_slot *vm_ring_slot(const struct vm_ring *ring,
					   uint32_t number)
{
	return &atomic_load_explicit(
		&ring->slots, memory_order_relaxed)[number % VM_RING_SLOTS];
}

/* The number of the next slot to be taken. */
static inline uint32_t vm_ring_next(const struct vm_ring *ring)
{
	return atomic_load_explicit(&ring->next, memory_order_relaxed);
}

/* Whether there is something to take in a ring that has been used; exact under
 * the lock. */
static inline bool vm_ring_is_empty(const struct vm_ring *ring)
{
	uint32_t next = vm_ring_next(ring);

	return atomic_load_explicit(&vm_ring_slot(ring, next)->lap,
				    memory_order_relaxed) != vm_ring_lap(next);
}

static inline bool vm_ring_is_used(const struct vm_ring *ring)
{
	/* Pairs with the store in vm_ring_open(). */
	return atomic_load_explicit(&ring->slots, memory_order_acquire) != NULL;
}

/* Gives the slots that have been taken back to the writer; under the lock. */
static inline void vm_ring_release(struct vm_ring *ring)
{
	/* Pairs with the load in vm_ring_tail(). */
	atomic_store_explicit(&ring->tail, vm_ring_next(ring),
			      memory_order_release);
}

/* The first slot that is not the writer's again. */
static inline uint32_t vm_ring_tail(const struct vm_ring *ring)
{
	/* Pairs with the store in vm_ring_release(). */
	return atomic_load_explicit(&ring->tail, memory_order_acquire);
}

/* Rings for so many pairs, none of which is used; or NULL. */
struct vm_ring *vm_rings_new(size_t count);
void vm_rings_free(struct vm_ring *rings, size_t count);

/* The writer, before it uses number `index` of so many rings. */
void vm_ring_open(struct vm_ring *rings, size_t count, size_t index);

#endif
