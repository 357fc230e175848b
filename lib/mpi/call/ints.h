/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An array of counts or displacements that a call was given: of int, or of
 * MPI_Count (which MPI_Aint is, too).
 */
#ifndef MPI_CALL_INTS_H
#define MPI_CALL_INTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "mpi.h"
#include "mpi/call/array.h"

VM_STATIC_ASSERT(sizeof(MPI_Aint) == sizeof(MPI_Count),
		 "displacements are as wide as counts");

struct vm_ints {
	const void *array; /* NULL: none */
	bool wide;	   /* of MPI_Count */
};

/* The array of a parameter, whose type says which it is. */
#define VM_INTS(parameter)              \
	((struct vm_ints){ (parameter), \
			   sizeof(*(parameter)) == sizeof(MPI_Count) })

static inline MPI_Count vm_ints_get(struct vm_ints ints, size_t i)
{
	if (ints.wide)
		return ((const MPI_Count *)ints.array)[i];
	return ((const int *)ints.array)[i];
}

/* Whether one of n is not 0. */
static inline bool vm_ints_any(struct vm_ints ints, int n)
{
	for (int i = 0; i < n; i++)
		if (vm_ints_get(ints, (size_t)i) != 0)
			return true;
	return false;
}

static inline size_t vm_ints_bytes(struct vm_ints ints, size_t n)
{
	return n * (ints.wide ? sizeof(MPI_Count) : sizeof(int));
}

/* The room for a copy of n numbers, and the copy (mpi/call/array.h). */
static inline size_t vm_ints_room(struct vm_ints ints, size_t n)
{
	return vm_array_room(ints.array, vm_ints_bytes(ints, n));
}

static inline struct vm_ints vm_ints_keep(void **place, struct vm_ints ints,
					  size_t n)
{
	ints.array = vm_array_keep(place, ints.array, vm_ints_bytes(ints, n));
	return ints;
}

#endif
