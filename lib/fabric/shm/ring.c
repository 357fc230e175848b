/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding room for a record.
 */
#include "fabric/shm/ring.h"

#define ROUND 64	/* payloads begin at multiples of it */
#define LOOK_BYTES 8192 /* of the area, until we look whether it is empty */

/* Looks how far the reader has come. */
static void taken_look(struct vm_shm_writer *writer)
{
	/* Pairs with the store in vm_shm_take(). */
	uint32_t taken = atomic_load_explicit(&writer->ring->taken,
					      memory_order_acquire);

	/* More than there are: the memory was written to by mistake. */
	if (taken == writer->taken ||
	    taken - writer->taken > writer->next - writer->taken)
		return;
	writer->taken = taken;
	writer->freed = writer->ends[(taken - 1) % VM_SHM_SLOTS];
	if (taken != writer->next)
		return;
	/* Empty: the next payload is the area's first. */
	writer->tail += VM_SHM_AREA - 1;
	writer->tail -= writer->tail % VM_SHM_AREA;
	writer->freed = writer->tail;
}

/* Where in the area so many bytes fit, contiguously; false: nowhere now. */
static bool area_find(struct vm_shm_writer *writer, uint32_t bytes)
{
	uint64_t at = writer->tail % VM_SHM_AREA;
	uint64_t skip = at + bytes > VM_SHM_AREA ? VM_SHM_AREA - at : 0;

	if (writer->tail + skip + bytes - writer->freed > VM_SHM_AREA)
		return false;
	writer->tail += skip;
	return true;
}

/* Takes so many bytes of the area; NULL: they are not free. */
static char *area_take(struct vm_shm_writer *writer, uint32_t bytes)
{
	char *data;

	bytes = (bytes + ROUND - 1) / ROUND * ROUND;
	if (writer->tail >= writer->look) {
		taken_look(writer);
		writer->look = writer->tail + LOOK_BYTES;
	}
	if (!area_find(writer, bytes)) {
		taken_look(writer);
		if (!area_find(writer, bytes))
			return NULL;
	}
	data = writer->ring->area + writer->tail % VM_SHM_AREA;
	writer->tail += bytes;
	return data;
}

struct vm_shm_slot *vm_shm_room(struct vm_shm_writer *writer, uint32_t bytes,
				void **data)
{
	struct vm_shm_slot *slot =
		&writer->ring->slots[writer->next % VM_SHM_SLOTS];
	char *place = slot->data;

	if (writer->next - writer->taken == VM_SHM_SLOTS) {
		taken_look(writer);
		if (writer->next - writer->taken == VM_SHM_SLOTS)
			return NULL;
	}
	if (bytes > VM_SHM_INLINE) {
		place = area_take(writer, bytes);
		if (!place)
			return NULL;
	}
	writer->ends[writer->next % VM_SHM_SLOTS] = writer->tail;
	*data = place;
	return slot;
}
