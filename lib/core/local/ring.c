/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address space for the rings of all pairs: those that are used take memory.
 */
#include "core/local/ring.h"

#include <sys/mman.h>

#define HUGE_BYTES (UINT32_C(2) << 20) /* of a large page */

/* The slots of the rings lie behind the rings. */
static size_t slots_at(size_t count)
{
	const size_t page = 4096;

	return (count * sizeof(struct vm_ring) + page - 1) / page * page;
}

static size_t map_bytes(size_t count)
{
	return slots_at(count) + count * VM_RING_SLOTS * sizeof(struct vm_slot);
}

struct vm_ring *vm_rings_new(size_t count)
{
	void *map = mmap(NULL, map_bytes(count), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	/* Else the first slot of a ring takes the memory of all around it. */
	if (map_bytes(count) > HUGE_BYTES)
		madvise(map, map_bytes(count), MADV_NOHUGEPAGE);
	return map;
}

void vm_rings_free(struct vm_ring *rings, size_t count)
{
	if (rings)
		munmap(rings, map_bytes(count));
}

void vm_ring_open(struct vm_ring *rings, size_t count, size_t index)
{
	struct vm_ring *ring = &rings[index];
	struct vm_slot *slots =
		(struct vm_slot *)((char *)rings + slots_at(count));

	ring->watched.told = &ring->told;
	ring->end = VM_RING_SLOTS;
	/* Pairs with the load in vm_ring_is_used(). */
	atomic_store_explicit(&ring->slots, slots + index * VM_RING_SLOTS,
			      memory_order_release);
}
