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

/*
 * Reads of variables are looked up by this alone, in one cache line: a tool reads
 * hundreds, and has the program's data in the cache displaced by each line.
 */

/* Lends what is inside of an object, until its handle is invalid, to those who
 * have a handle and that of its parent. */
void vm_tool_lend(uintptr_t handle, void *inside, uintptr_t parent);

#define VM_TOOL_CHUNK 256u
#define VM_TOOL_CHUNKS 4096u
#define VM_TOOL_KIND_BITS 4

struct vm_tool_slot {
	_Atomic uintptr_t id VM_ALIGNED(VM_CACHELINE); /* 0: free */
	_Atomic(void *) inside;			       /* lent; or NULL */
	_Atomic uintptr_t parent;		       /* before inside */
	void *object; /* this and what follows: before id, under lock */
	void (*free_object)(void *object);
	const void *owner;
	uint32_t uses;
	uint32_t next; /* free: the next free one, 0: none */
};

struct vm_tool_table {
	struct vm_lock lock; /* serialises allocation and freeing */
	/* Pairs with the acquire load in vm_tool_slot(). */
	_Atomic(struct vm_tool_slot *) chunks[VM_TOOL_CHUNKS];
	uint32_t count, free; /* slot 0 is not used */
};
extern struct vm_tool_table vm_tool_table;

/* Returns the slot of a handle, or NULL. */
static inline struct vm_tool_slot *vm_tool_slot(const void *handle,
						enum vm_tool_kind kind)
{
	uintptr_t id = (uintptr_t)handle;
	size_t index = id >> VM_TOOL_KIND_BITS &
		       (VM_TOOL_CHUNK * VM_TOOL_CHUNKS - 1);
	struct vm_tool_slot *slot;

	if ((id & ((1u << VM_TOOL_KIND_BITS) - 1)) != kind)
		return NULL;
	slot = atomic_load_explicit(
		&vm_tool_table.chunks[index / VM_TOOL_CHUNK],
		memory_order_acquire);
	if (!slot)
		return NULL;
	slot += index % VM_TOOL_CHUNK;
	return atomic_load_explicit(&slot->id, memory_order_acquire) == id ?
		       slot :
		       NULL;
}

/* Returns what was lent, or NULL: look the object up. */
static inline void *vm_tool_inside(const void *handle, enum vm_tool_kind kind,
				   const void *parent)
{
	struct vm_tool_slot *slot = vm_tool_slot(handle, kind);
	void *inside;

	if (VM_UNLIKELY(!slot))
		return NULL;
	inside = atomic_load_explicit(&slot->inside, memory_order_acquire);
	return atomic_load_explicit(&slot->parent, memory_order_relaxed) ==
			       (uintptr_t)parent ?
		       inside :
		       NULL;
}

#endif
