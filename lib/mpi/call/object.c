/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of MPI objects, kept per rank and kind.
 */
#include "mpi/call/object.h"

#include <string.h>

#include "mpi/call/state.h"

static const uint32_t magics[VM_OBJECTS] = {
#define MAGIC_OF(kind, magic) [VM_OBJECT_##kind] = (magic),
	VM_OBJECT_KINDS(MAGIC_OF)
};

void *vm_object_new(struct vm_mpi *mpi, enum vm_object_kind kind, size_t bytes)
{
	struct vm_list *link;
	struct vm_object *object = NULL;

	vm_lock_take(&mpi->lock);
	link = vm_list_pop(&mpi->spare[kind]);
	vm_lock_give(&mpi->lock);
	if (link)
		object = vm_container_of(link, struct vm_object, link);
	else
		object = vm_arena_get(&vm_node->arenas.object, bytes);
	if (!object)
		return NULL;
	memset(object, 0, bytes);
	vm_object_mark(object, magics[kind]);
	object->bytes = (uint32_t)bytes;
	atomic_init(&object->refs, 1);
	vm_lock_take(&mpi->lock);
	vm_list_append(&mpi->alive[kind], &object->link);
	vm_lock_give(&mpi->lock);
	return object;
}

void vm_object_free(struct vm_mpi *mpi, enum vm_object_kind kind, void *pointer)
{
	struct vm_object *object = pointer;

	vm_object_mark(object, 0);
	vm_lock_take(&mpi->lock);
	vm_list_remove(&object->link);
	vm_list_append(&mpi->spare[kind], &object->link);
	vm_lock_give(&mpi->lock);
}

void vm_objects_clear(struct vm_mpi *mpi, enum vm_object_kind kind,
		      vm_object_clear_fn *clear)
{
	struct vm_list *link;

	if (!clear)
		return;
	vm_list_each(link, &mpi->alive[kind])
		clear(mpi, vm_container_of(link, struct vm_object, link));
}

static void free_list(struct vm_list *list)
{
	struct vm_list *link;

	while ((link = vm_list_pop(list)) != NULL) {
		struct vm_object *object =
			vm_container_of(link, struct vm_object, link);

		vm_object_mark(object, 0);
		vm_arena_put(&vm_node->arenas.object, object, object->bytes);
	}
}

void vm_objects_free(struct vm_mpi *mpi, enum vm_object_kind kind,
		     vm_object_clear_fn *clear)
{
	vm_objects_clear(mpi, kind, clear);
	free_list(&mpi->alive[kind]);
	free_list(&mpi->spare[kind]);
}
