/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI objects: what handles point to.
 *
 * Every object begins with a struct vm_object, in an arena, so that a handle
 * can be looked at whatever its value is.  Memory of a rank's freed objects is
 * kept for new ones of the same kind until MPI_Finalize: a freed handle is
 * recognised by the magic word.  Handles below VM_HANDLE_MIN are the ABI's
 * constants.
 */
#ifndef MPI_CALL_OBJECT_H
#define MPI_CALL_OBJECT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "core/rank/state.h"

struct vm_mpi;

#define VM_HANDLE_MIN 4096

/* Kind, magic word (ASCII). */
#define VM_OBJECT_KINDS(X)     \
	X(COMM, 0x4d4d4f43)    \
	X(GROUP, 0x50555247)   \
	X(ERRH, 0x48525245)    \
	X(INFO, 0x4f464e49)    \
	X(KEYVAL, 0x4c41564b)  \
	X(TYPE, 0x45505954)    \
	X(OP, 0x504f4d52)      \
	X(WIN, 0x444e4957)     \
	X(FILE, 0x454c4946)    \
	X(DATAREP, 0x50455244) \
	X(SESSION, 0x53534553)

enum vm_object_kind {
#define VM_OBJECT_KIND_(name, magic) VM_OBJECT_##name,
	VM_OBJECT_KINDS(VM_OBJECT_KIND_)
#undef VM_OBJECT_KIND_
		VM_OBJECTS
};

enum {
#define VM_OBJECT_MAGIC_(name, magic) VM_MAGIC_##name = magic,
	VM_OBJECT_KINDS(VM_OBJECT_MAGIC_)
#undef VM_OBJECT_MAGIC_
};

/* Instead of VM_MAGIC_COMM: a communicator that MPI_Comm_idup has not completed.
 * Only its error handler exists. */
#define VM_MAGIC_COMM_SOON 0x4e4f4f53

/* link is guarded by the lock of the rank's struct vm_mpi. */
struct vm_object {
	/* VM_MAGIC_... while the handle is valid, else 0; vm_object_mark() */
	_Atomic uint32_t magic;
	_Atomic int refs; /* the handle's own and those of other objects */
	uint32_t bytes;	  /* of the whole object */
	struct vm_list link;
};

/* Allocates a zeroed object of `bytes` bytes with one reference; NULL when out
 * of memory.  bytes is the same for all objects of a kind. */
void *vm_object_new(struct vm_mpi *mpi, enum vm_object_kind kind, size_t bytes);

/* Clears the magic word and keeps the memory for the next object of this
 * kind. */
void vm_object_free(struct vm_mpi *mpi, enum vm_object_kind kind, void *object);

/* Frees what an object of a terminating rank holds, but not its memory. */
typedef void vm_object_clear_fn(struct vm_mpi *mpi, struct vm_object *object);

/* Clears all live objects of a kind, unless clear is NULL. */
void vm_objects_clear(struct vm_mpi *mpi, enum vm_object_kind kind,
		      vm_object_clear_fn *clear);

/* Clears all live objects of a kind and frees the memory of all its objects. */
void vm_objects_free(struct vm_mpi *mpi, enum vm_object_kind kind,
		     vm_object_clear_fn *clear);

static inline void vm_object_hold(struct vm_object *object)
{
	atomic_fetch_add_explicit(&object->refs, 1, memory_order_relaxed);
}

/* Drops a reference; true if it was the last and the caller must free the
 * object. */
static inline bool vm_object_drop(struct vm_object *object)
{
	/* Acquire-release: writes of others before their drops are visible. */
	return atomic_fetch_sub_explicit(&object->refs, 1,
					 memory_order_acq_rel) == 1;
}

/* Sets the magic word.  Any thread may complete a communicator while its rank
 * looks at it; what else there is to see comes with the request. */
static inline void vm_object_mark(struct vm_object *object, uint32_t magic)
{
	atomic_store_explicit(&object->magic, magic, memory_order_relaxed);
}

/* Returns the object of a handle that is not a constant, or NULL. */
static inline void *vm_object_of(const void *handle, uint32_t magic)
{
	const struct vm_object *object = handle;

	if (!vm_arena_has(&vm_node->arenas.object, handle) ||
	    (uintptr_t)handle < VM_HANDLE_MIN ||
	    atomic_load_explicit(&object->magic, memory_order_relaxed) != magic)
		return NULL;
	return (void *)(uintptr_t)handle;
}

#endif
