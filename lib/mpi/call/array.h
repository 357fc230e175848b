/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of the arrays that an operation was called with, all of them in one
 * allocation, for operations that outlive their call.
 */
#ifndef MPI_CALL_ARRAY_H
#define MPI_CALL_ARRAY_H

#include <stddef.h>
#include <string.h>

/* Returns the room that the copy of an array takes, which may be NULL; the next
 * copy is aligned for any type then. */
static inline size_t vm_array_room(const void *array, size_t bytes)
{
	const size_t align = _Alignof(max_align_t);

	return array ? (bytes + align - 1) & ~(align - 1) : 0;
}

/* Copies an array to *place, which it moves on; returns the copy.  NULL stays
 * NULL. */
static inline const void *vm_array_keep(void **place, const void *array,
					size_t bytes)
{
	void *copy = *place;

	if (!array)
		return NULL;
	memcpy(copy, array, bytes);
	*place = (char *)copy + vm_array_room(array, bytes);
	return copy;
}

#endif
