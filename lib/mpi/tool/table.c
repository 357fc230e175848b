/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles of the tool information interface.
 *
 * Slots are allocated in chunks that are never freed, so that handles can be
 * looked up without a lock and without following them.  A slot's id is its
 * current handle.
 */
#include <stdlib.h>

#include "mpi/tool/tool.h"

#define CHUNK 256u
#define CHUNKS 4096u
#define KIND_BITS 4
#define INDEX_BITS 20
VM_STATIC_ASSERT(CHUNK *CHUNKS == 1u << INDEX_BITS, "an index fits");
VM_STATIC_ASSERT(sizeof(uintptr_t) == 8, "a handle has room for all of it");

struct slot {
	_Atomic uintptr_t id; /* 0: free */
	void *object;	      /* this and what follows: before id, under lock */
	void (*free_object)(void *object);
	const void *owner;
	uint32_t uses;
	uint32_t next; /* free: the next free one, 0: none */
};

static struct {
	struct vm_lock lock; /* serialises allocation and freeing */
	/* Pairs with the acquire load in slot_at(). */
	_Atomic(struct slot *) chunks[CHUNKS];
	uint32_t count, free; /* slot 0 is not used */
} table = { .count = 1 };

/* Returns the slot of an allocated index, or NULL. */
static struct slot *slot_at(uint32_t index)
{
	struct slot *chunk = atomic_load_explicit(&table.chunks[index / CHUNK],
						  memory_order_acquire);

	return chunk ? &chunk[index % CHUNK] : NULL;
}

/* The index of a slot for a new handle, or 0; under lock. */
static uint32_t slot_take(void)
{
	uint32_t index = table.free;
	struct slot *chunk;

	if (index) {
		table.free = slot_at(index)->next;
		return index;
	}
	index = table.count;
	if (index == CHUNK * CHUNKS)
		return 0;
	if (!slot_at(index)) {
		chunk = calloc(CHUNK, sizeof(*chunk));
		if (!chunk)
			return 0;
		atomic_store_explicit(&table.chunks[index / CHUNK], chunk,
				      memory_order_release);
	}
	table.count++;
	return index;
}

uintptr_t vm_tool_handle_new(enum vm_tool_kind kind, void *object,
			     void (*free_object)(void *object))
{
	uintptr_t id = 0;
	uint32_t index;

	vm_lock_take(&table.lock);
	index = slot_take();
	if (index) {
		struct slot *slot = slot_at(index);

		slot->object = object;
		slot->free_object = free_object;
		slot->owner = free_object ? vm_tool_owner() : NULL;
		id = (uintptr_t)++slot->uses << (INDEX_BITS + KIND_BITS) |
		     (uintptr_t)index << KIND_BITS | kind;
		/* Pairs with the acquire load of lookups. */
		atomic_store_explicit(&slot->id, id, memory_order_release);
	}
	vm_lock_give(&table.lock);
	return id;
}

static struct slot *slot_of(const void *handle, enum vm_tool_kind kind)
{
	uintptr_t id = (uintptr_t)handle;
	struct slot *slot;

	if ((id & ((1u << KIND_BITS) - 1)) != kind)
		return NULL;
	slot = slot_at(id >> KIND_BITS & (CHUNK * CHUNKS - 1));
	if (!slot ||
	    atomic_load_explicit(&slot->id, memory_order_acquire) != id)
		return NULL;
	return slot;
}

void *vm_tool_object(const void *handle, enum vm_tool_kind kind)
{
	const struct slot *slot = slot_of(handle, kind);

	return slot ? slot->object : NULL;
}

/* Under lock. */
static void slot_free(struct slot *slot, uint32_t index)
{
	atomic_store_explicit(&slot->id, 0, memory_order_relaxed);
	slot->next = table.free;
	table.free = index;
}

void *vm_tool_object_take(const void *handle, enum vm_tool_kind kind)
{
	void *object = NULL;
	struct slot *slot;

	vm_lock_take(&table.lock);
	slot = slot_of(handle, kind);
	if (slot) {
		object = slot->object;
		slot_free(slot, (uintptr_t)handle >> KIND_BITS &
					(CHUNK * CHUNKS - 1));
	}
	vm_lock_give(&table.lock);
	return object;
}

/* Takes the next object of owner out of the table, from *index on. */
static bool owned_take(uint32_t *index, const void *owner, void **object,
		       void (**free_object)(void *object))
{
	bool found = false;

	vm_lock_take(&table.lock);
	for (; !found && *index < table.count; ++*index) {
		struct slot *slot = slot_at(*index);

		if (slot->owner != owner ||
		    !atomic_load_explicit(&slot->id, memory_order_relaxed))
			continue;
		*object = slot->object;
		*free_object = slot->free_object;
		slot_free(slot, *index);
		found = true;
	}
	vm_lock_give(&table.lock);
	return found;
}

void vm_tool_objects_end(const void *owner)
{
	void (*free_object)(void *object);
	uint32_t index = 1;
	void *object;

	while (owned_take(&index, owner, &object, &free_object))
		free_object(object);
}
