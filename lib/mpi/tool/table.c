/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles of the tool information interface.
 *
 * Slots are allocated in chunks that are never freed, so that handles can be
 * looked up without a lock and without following them.  A slot's id is its
 * current handle.
 */
#include "mpi/tool/table.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/tool/tool.h"

#define CHUNK VM_TOOL_CHUNK
#define CHUNKS VM_TOOL_CHUNKS
#define INDEX_BITS 20
VM_STATIC_ASSERT(CHUNK *CHUNKS == 1u << INDEX_BITS, "an index fits");
VM_STATIC_ASSERT(sizeof(uintptr_t) == 8, "a handle has room for all of it");
VM_STATIC_ASSERT(sizeof(struct vm_tool_slot) == VM_CACHELINE, "a line");
VM_STATIC_ASSERT(sizeof(struct vm_tool_chunk) % VM_CACHELINE == 0,
		 "whole lines");

struct vm_tool_table vm_tool_table = { .count = 1 };

/* Returns the chunk of an index, or NULL. */
static struct vm_tool_chunk *chunk_of(uint32_t index)
{
	return atomic_load_explicit(&vm_tool_table.chunks[index / CHUNK],
				    memory_order_acquire);
}

/* Of an allocated index. */
static struct vm_tool_slot *slot_at(uint32_t index)
{
	return &chunk_of(index)->slots[index % CHUNK];
}

static struct vm_tool_rest *rest_at(uint32_t index)
{
	return &chunk_of(index)->rests[index % CHUNK];
}

static uint32_t index_of(const void *handle)
{
	return (uintptr_t)handle >> VM_TOOL_KIND_BITS & (CHUNK * CHUNKS - 1);
}

/* The index of a slot for a new handle, or 0; under lock. */
static uint32_t slot_take(void)
{
	uint32_t index = vm_tool_table.free;
	struct vm_tool_chunk *chunk;

	if (index) {
		vm_tool_table.free = rest_at(index)->next;
		return index;
	}
	index = vm_tool_table.count;
	if (index == CHUNK * CHUNKS)
		return 0;
	if (!chunk_of(index)) {
		chunk = aligned_alloc(VM_CACHELINE, sizeof(*chunk));
		if (!chunk)
			return 0;
		memset(chunk, 0, sizeof(*chunk));
		atomic_store_explicit(&vm_tool_table.chunks[index / CHUNK],
				      chunk, memory_order_release);
	}
	vm_tool_table.count++;
	return index;
}

/* Nothing of it is lent. */
static void slot_clear(struct vm_tool_slot *slot)
{
	atomic_store_explicit(&slot->inside, NULL, memory_order_relaxed);
	atomic_store_explicit(&slot->session, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->shortcut.moves, 0, memory_order_relaxed);
}

uintptr_t vm_tool_handle_new(enum vm_tool_kind kind, void *object,
			     void (*free_object)(void *object))
{
	uintptr_t id = 0;
	uint32_t index;

	vm_lock_take(&vm_tool_table.lock);
	index = slot_take();
	if (index) {
		struct vm_tool_slot *slot = slot_at(index);
		struct vm_tool_rest *rest = rest_at(index);

		slot->object = object;
		slot_clear(slot);
		rest->free_object = free_object;
		rest->owner = free_object ? vm_tool_owner() : NULL;
		id = (uintptr_t)++rest->uses
			     << (INDEX_BITS + VM_TOOL_KIND_BITS) |
		     (uintptr_t)index << VM_TOOL_KIND_BITS | kind;
		/* Pairs with the acquire load of lookups. */
		atomic_store_explicit(&slot->id, id, memory_order_release);
	}
	vm_lock_give(&vm_tool_table.lock);
	return id;
}

void vm_tool_lend(uintptr_t handle, struct vm_handle *inside, uintptr_t session)
{
	struct vm_tool_slot *slot = slot_at(index_of((void *)handle));

	vm_handle_shorten(inside, &slot->shortcut);
	atomic_store_explicit(&slot->session, session, memory_order_relaxed);
	/* Pairs with the acquire load of readers. */
	atomic_store_explicit(&slot->inside, inside, memory_order_release);
}

void *vm_tool_object(const void *handle, enum vm_tool_kind kind)
{
	const struct vm_tool_slot *slot =
		vm_tool_kind(handle) == kind ? vm_tool_slot(handle) : NULL;

	return slot ? slot->object : NULL;
}

/* Under lock. */
static void slot_free(uint32_t index)
{
	atomic_store_explicit(&slot_at(index)->id, 0, memory_order_relaxed);
	rest_at(index)->next = vm_tool_table.free;
	vm_tool_table.free = index;
}

void *vm_tool_object_take(const void *handle, enum vm_tool_kind kind)
{
	void *object;

	vm_lock_take(&vm_tool_table.lock);
	object = vm_tool_object(handle, kind);
	if (object)
		slot_free(index_of(handle));
	vm_lock_give(&vm_tool_table.lock);
	return object;
}

/* Takes the next object of owner out of the table, from *index on. */
static bool owned_take(uint32_t *index, const void *owner, void **object,
		       void (**free_object)(void *object))
{
	bool found = false;

	vm_lock_take(&vm_tool_table.lock);
	for (; !found && *index < vm_tool_table.count; ++*index) {
		struct vm_tool_slot *slot = slot_at(*index);
		struct vm_tool_rest *rest = rest_at(*index);

		if (rest->owner != owner ||
		    !atomic_load_explicit(&slot->id, memory_order_relaxed))
			continue;
		*object = slot->object;
		*free_object = rest->free_object;
		slot_free(*index);
		found = true;
	}
	vm_lock_give(&vm_tool_table.lock);
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
