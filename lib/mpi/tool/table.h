/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles of the tool information interface.
 */
#ifndef MPI_TOOL_TABLE_H
#define MPI_TOOL_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/lock.h"
#include "introspect/vars/session.h"

/*
 * Objects by handle.  A handle is a number in the form of a pointer: slot,
 * count of uses and kind, so that stale and invalid handles are recognised.
 * Lookups take no lock.
 */
enum vm_tool_kind {
	VM_TOOL_SESSION = 1,
	VM_TOOL_PVAR,
	VM_TOOL_CVAR,
	VM_TOOL_EVENT,
};

#define VM_TOOL_KIND_BITS 4

static inline enum vm_tool_kind vm_tool_kind(const void *handle)
{
	return (uintptr_t)handle & ((1u << VM_TOOL_KIND_BITS) - 1);
}

/* Allocates a handle for object; 0 when out of memory or handles.  free_object
 * is called if its owner (vm_tool_owner()) ends before it; NULL: the object
 * belongs to another one, which frees it. */
uintptr_t vm_tool_handle_new(enum vm_tool_kind kind, void *object,
			     void (*free_object)(void *object));

/* Returns the object of a handle, or NULL. */
void *vm_tool_object(const void *handle, enum vm_tool_kind kind);

/* The same, and invalidates the handle: of concurrent callers only one gets the
 * object. */
void *vm_tool_object_take(const void *handle, enum vm_tool_kind kind);

/* Frees all objects of an owner. */
void vm_tool_objects_end(const void *owner);

/* Lends the inside of a variable's handle, until the handle is invalid, to those who
 * have it and that of its session. */
void vm_tool_lend(uintptr_t handle, struct vm_handle *inside,
		  uintptr_t session);

#define VM_TOOL_CHUNK 256u
#define VM_TOOL_CHUNKS 4096u

/* A handle, in one line: reads of variables see no more of what belongs to it. */
struct vm_tool_slot {
	_Atomic uintptr_t id VM_ALIGNED(VM_CACHELINE); /* 0: free */
	/* Lent: */
	_Atomic uintptr_t session; /* before what follows */
	struct vm_shortcut shortcut;
	_Atomic(struct vm_handle *) inside;
	void *object; /* before id, under lock */
};

/* What lookups do not need; under lock. */
struct vm_tool_rest {
	void (*free_object)(void *object);
	const void *owner;
	uint32_t uses;
	uint32_t next; /* free: the next free one, 0: none */
};

struct vm_tool_chunk {
	struct vm_tool_slot slots[VM_TOOL_CHUNK];
	struct vm_tool_rest rests[VM_TOOL_CHUNK];
};

struct vm_tool_table {
	struct vm_lock lock; /* serialises allocation and freeing */
	/* Pairs with the acquire load in vm_tool_slot(). */
	_Atomic(struct vm_tool_chunk *) chunks[VM_TOOL_CHUNKS];
	uint32_t count, free; /* slot 0 is not used */
};
extern struct vm_tool_table vm_tool_table;

/* Returns the slot of a handle, or NULL. */
static inline struct vm_tool_slot *vm_tool_slot(const void *handle)
{
	uintptr_t id = (uintptr_t)handle;
	size_t index = id >> VM_TOOL_KIND_BITS &
		       (VM_TOOL_CHUNK * VM_TOOL_CHUNKS - 1);
	struct vm_tool_chunk *chunk;
	struct vm_tool_slot *slot;

	chunk = atomic_load_explicit(
		&vm_tool_table.chunks[index / VM_TOOL_CHUNK],
		memory_order_acquire);
	if (VM_UNLIKELY(!chunk))
		return NULL;
	slot = &chunk->slots[index % VM_TOOL_CHUNK];
	return VM_LIKELY(id && atomic_load_explicit(
				       &slot->id, memory_order_acquire) == id) ?
		       slot :
		       NULL;
}

/* The same, for who has the handle of its session too. */
static inline struct vm_tool_slot *vm_tool_lent(const void *handle,
						const void *session)
{
	struct vm_tool_slot *slot = vm_tool_slot(handle);

	return VM_LIKELY(slot && atomic_load_explicit(&slot->session,
						      memory_order_relaxed) ==
					 (uintptr_t)session) ?
		       slot :
		       NULL;
}

#endif
