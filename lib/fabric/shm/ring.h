/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of records in memory that two processes share: one writes, one reads.
 *
 * A record is a slot of one cache line: the words of the layer above, and a
 * short payload; a longer one lies in an area beside the slots.  The slot's
 * `turn` says whether it is written, so a record of one line costs one transfer
 * between two cores, and a writer that dies in the middle of a record has
 * written none.  Nothing here waits or allocates.
 */
#ifndef FABRIC_SHM_RING_H
#define FABRIC_SHM_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/copy.h"
#include "base/err.h"
#include "base/watch.h"

/*
 * Memory of zeros is an empty ring.  The reader trusts nothing in it but that
 * both sides keep to the order: a record is read where it lies, and its place is
 * checked.  The area is used from its begin again whenever the writer finds the
 * ring empty, so that little memory is touched where little is under way.
 */

#define VM_SHM_RING_BYTES 524288 /* of a ring: about 64 payloads of 8 KiB */
#define VM_SHM_SLOTS 128
#define VM_SHM_HEAD 36	 /* bytes of each record for the layer above */
#define VM_SHM_INLINE 16 /* bytes of payload in a slot */
#define VM_SHM_AREA (VM_SHM_RING_BYTES - 64 * (VM_SHM_SLOTS + 4))
#define VM_SHM_RECORD_MAX (VM_SHM_AREA / 2) /* bytes of a payload */

struct vm_shm_slot {
	_Atomic uint32_t turn; /* the record's number + 1 once it is there */
	uint32_t bytes;	       /* of payload */
	uint32_t at;	       /* its place in the area, if it is there */
	char head[VM_SHM_HEAD];
	char data[VM_SHM_INLINE];
};

VM_STATIC_ASSERT(sizeof(struct vm_shm_slot) == 64, "a slot is a cache line");

/* What both sides move at once (fabric/near/share.h): the number << 32, and the next
 * piece that nobody has; until when the writer is busy with loads that it begins,
 * UINT64_MAX: it moves one; and what the reader of the ring says of it. */
struct vm_shm_share {
	_Atomic uint64_t next;
	_Atomic uint64_t busy_until_ns;
	char line[48];
	_Atomic uint64_t
		awaited;	 /* by the writer, who wants to be told; or 0 */
	_Atomic uint32_t done;	 /* pieces, of all numbers */
	_Atomic uint32_t failed; /* the last number of which it could not */
	char line_of_it[48];
};

struct vm_shm_ring {
	_Atomic uint32_t taken; /* records read; written by the reader */
	char line[60];
	_Atomic uint32_t watched; /* the reader looks at it; likewise */
	char line_of_it[60];
	struct vm_shm_share share;
	struct vm_shm_slot slots[VM_SHM_SLOTS];
	char area[VM_SHM_AREA];
};

VM_STATIC_ASSERT(sizeof(struct vm_shm_ring) == VM_SHM_RING_BYTES,
		 "without gaps");

/* Of a port that reads (fabric/shm/shm.h): whether its process sleeps and is to be
 * woken; and whether a fence is needed to see that. */
struct vm_shm_sleeper {
	_Atomic uint32_t *sleeping;
	bool fence;
};

/* One side each; in memory of its own. */
struct vm_shm_writer {
	struct vm_shm_ring *ring;
	uint32_t next;	/* number of the next record */
	uint32_t taken; /* as it was when we last looked */
	struct vm_shm_sleeper reader;
	_Atomic uint32_t *bell; /* of the port that reads */
	uint64_t tail;		/* bytes of the area that were ever used, */
	uint64_t freed;		/* ... and are free again, */
	uint64_t look;		/* ... when to look whether all are */
	uint64_t ends[VM_SHM_SLOTS]; /* `tail` behind each record */
	/* What is shared (fabric/near/share.h): something is, its number, and how
	 * many are not to be. */
	_Atomic bool shares;
	uint32_t number;
	uint32_t alone;
};

struct vm_shm_reader {
	struct vm_shm_ring *ring;
	_Atomic uint32_t next; /* written by the one that reads */
	struct vm_watched watched;
};

/*
 * The slot of the next record, of a payload of so many bytes, at most
 * VM_SHM_RECORD_MAX; *data is where those go.  NULL: there is no room.  The
 * caller fills payload and head, and publishes it: what is in the slot at last
 * and in one go, because the reader looks at it again and again, and each look
 * takes the line away from the writer.
 */
struct vm_shm_slot *vm_shm_room(struct vm_shm_writer *writer, uint32_t bytes,
				void **data);

static inline void vm_shm_publish(struct vm_shm_writer *writer,
				  struct vm_shm_slot *slot, uint32_t bytes,
				  const void *data)
{
	slot->bytes = bytes;
	if (bytes > VM_SHM_INLINE)
		slot->at = (uint32_t)((const char *)data - writer->ring->area);
	/* Pairs with the load in vm_shm_peek(). */
	atomic_store_explicit(&slot->turn, ++writer->next,
			      memory_order_release);
	/* The reader has had the lines of later records.  The next one it looks
	 * at already; that behind it comes while the next one is filled. */
	vm_fetch_to_write(
		&writer->ring->slots[(writer->next + 1) % VM_SHM_SLOTS]);
}

/* How many records have been read; of writer->next. */
static inline uint32_t vm_shm_read(const struct vm_shm_writer *writer)
{
	/* Pairs with the store in vm_shm_take(). */
	return atomic_load_explicit(&writer->ring->taken, memory_order_acquire);
}

/* The oldest record; NULL: there is none. */
static inline const struct vm_shm_slot *
vm_shm_peek(const struct vm_shm_reader *reader)
{
	uint32_t next =
		atomic_load_explicit(&reader->next, memory_order_relaxed);
	const struct vm_shm_slot *slot =
		&reader->ring->slots[next % VM_SHM_SLOTS];

	/* Pairs with the store in vm_shm_publish(). */
	return atomic_load_explicit(&slot->turn, memory_order_acquire) ==
			       next + 1 ?
		       slot :
		       NULL;
}

/* Whether there is one behind it. */
static inline bool vm_shm_more(const struct vm_shm_reader *reader)
{
	uint32_t next =
		atomic_load_explicit(&reader->next, memory_order_relaxed) + 1;
	const struct vm_shm_slot *slot =
		&reader->ring->slots[next % VM_SHM_SLOTS];

	return atomic_load_explicit(&slot->turn, memory_order_relaxed) ==
	       next + 1;
}

/* Its payload and its length; NULL: they are impossible. */
static inline const char *vm_shm_data(const struct vm_shm_reader *reader,
				      const struct vm_shm_slot *slot,
				      uint32_t *bytes)
{
	uint32_t length = *(const volatile uint32_t *)&slot->bytes;
	uint32_t at = *(const volatile uint32_t *)&slot->at;

	*bytes = length;
	if (length <= VM_SHM_INLINE)
		return slot->data;
	if (length > VM_SHM_AREA || at > VM_SHM_AREA - length)
		return NULL;
	return reader->ring->area + at;
}

/* The oldest record is about to be handled: fetches those behind it, so that
 * their lines come while it is. */
static inline void vm_shm_ahead(const struct vm_shm_reader *reader)
{
	uint32_t next =
		atomic_load_explicit(&reader->next, memory_order_relaxed);
	const struct vm_shm_slot *slots = reader->ring->slots;

	__builtin_prefetch(&slots[(next + 1) % VM_SHM_SLOTS]);
	__builtin_prefetch(&slots[(next + 2) % VM_SHM_SLOTS]);
}

/* The reader is done with the oldest record. */
static inline void vm_shm_take(struct vm_shm_reader *reader)
{
	uint32_t next =
		atomic_load_explicit(&reader->next, memory_order_relaxed) + 1;

	atomic_store_explicit(&reader->next, next, memory_order_relaxed);
	/* Pairs with the load in taken_look(). */
	atomic_store_explicit(&reader->ring->taken, next, memory_order_release);
}

#endif
