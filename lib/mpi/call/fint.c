/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of converted handles, and the conversions.
 *
 * Handles are found by number in an array, numbers by handle in a hash table of
 * array indices with linear probing.  Entries are never removed.
 */
#include "mpi/call/fint.h"

#include <stdlib.h>

#include "core/runtime/node.h"
#include "mpi/call/call.h"

struct row {
	const void *handle;
	enum vm_fint_kind kind; /* when it was converted last */
};

struct vm_fints {
	int count, room; /* rows; room is a power of 2 */
	struct row *rows;
	int *places; /* 2 * room: a row's number + 1; 0: free */
};

/* Returns the place of a handle, or the free one where it would be. */
static int *place_find(const struct vm_fints *fints, const void *handle)
{
	/* Objects are 16 bytes apart or more; the multiplier is that of
	 * Fibonacci hashing. */
	uint64_t hash = ((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15u;
	uint32_t mask = 2 * (uint32_t)fints->room - 1;
	uint32_t at = (uint32_t)(hash >> 32) & mask;

	while (fints->places[at] &&
	       fints->rows[fints->places[at] - 1].handle != handle)
		at = (at + 1) & mask;
	return &fints->places[at];
}

static bool grow(struct vm_fints *fints)
{
	int room = fints->room ? 2 * fints->room : 64;
	struct row *rows = realloc(fints->rows, (size_t)room * sizeof(*rows));
	int *places;

	if (!rows)
		return false;
	fints->rows = rows;
	places = calloc(2 * (size_t)room, sizeof(*places));
	if (!places)
		return false;
	free(fints->places);
	fints->places = places;
	fints->room = room;
	for (int i = 0; i < fints->count; i++)
		*place_find(fints, rows[i].handle) = i + 1;
	return true;
}

/* Returns the row of a handle; the lock of mpi is held. */
static int row_of(struct vm_mpi *mpi, enum vm_fint_kind kind,
		  const void *handle)
{
	struct vm_fints *fints = mpi->fints;
	int *place;

	if (!fints)
		fints = mpi->fints = calloc(1, sizeof(*fints));
	if (!fints || (fints->count == fints->room && !grow(fints)))
		return -1;
	place = place_find(fints, handle);
	if (!*place) {
		fints->rows[fints->count].handle = handle;
		*place = ++fints->count;
	}
	fints->rows[*place - 1].kind = kind;
	return *place - 1;
}

/* Returns the number of a handle; -1 when out of memory. */
static int number_of(struct vm_mpi *mpi, enum vm_fint_kind kind,
		     const void *handle)
{
	int row;

	if ((uintptr_t)handle < VM_HANDLE_MIN)
		return (int)(uintptr_t)handle;
	vm_lock_take(&mpi->lock);
	row = row_of(mpi, kind, handle);
	vm_lock_give(&mpi->lock);
	return row < 0 ? -1 : VM_HANDLE_MIN + row;
}

/* Returns the handle of a number; NULL, which is not a handle of any kind, if
 * no handle of this kind has it. */
static void *handle_of(struct vm_mpi *mpi, enum vm_fint_kind kind, int number)
{
	const void *handle = NULL;
	int row = number - VM_HANDLE_MIN;

	if (number >= 0 && number < VM_HANDLE_MIN)
		return (void *)(uintptr_t)number;
	vm_lock_take(&mpi->lock);
	if (row >= 0 && mpi->fints && row < mpi->fints->count &&
	    mpi->fints->rows[row].kind == kind)
		handle = mpi->fints->rows[row].handle;
	vm_lock_give(&mpi->lock);
	return (void *)(uintptr_t)handle;
}

void vm_fints_free(struct vm_fints *fints)
{
	if (!fints)
		return;
	free(fints->rows);
	free(fints->places);
	free(fints);
}

/* These functions have no error code to return. */
static int to_int(enum vm_call_id id, enum vm_fint_kind kind,
		  const void *handle)
{
	struct vm_call call = vm_call_enter_early(id);
	int number = number_of(call.mpi, kind, handle);

	if (number < 0)
		vm_node_abort(MPI_ERR_NO_MEM,
			      "rank %d: %s failed: out of memory",
			      call.mpi->rank->index, vm_call_name(id));
	return number;
}

static void *from_int(enum vm_call_id id, enum vm_fint_kind kind, int number)
{
	struct vm_call call = vm_call_enter_early(id);

	return handle_of(call.mpi, kind, number);
}

/* The names of the ABI, and those of MPI 4.1 for the same. */
#define CONVERSIONS(name, type)                                                \
	int PMPI_##name##_toint(type handle)                                   \
	{                                                                      \
		return to_int(VM_CALL_##name##_toint, VM_FINT_##name, handle); \
	}                                                                      \
	type PMPI_##name##_fromint(int number)                                 \
	{                                                                      \
		return from_int(VM_CALL_##name##_fromint, VM_FINT_##name,      \
				number);                                       \
	}                                                                      \
	MPI_Fint PMPI_##name##_c2f(type handle)                                \
	{                                                                      \
		return to_int(VM_CALL_##name##_c2f, VM_FINT_##name, handle);   \
	}                                                                      \
	type PMPI_##name##_f2c(MPI_Fint number)                                \
	{                                                                      \
		return from_int(VM_CALL_##name##_f2c, VM_FINT_##name, number); \
	}
VM_FINT_KINDS(CONVERSIONS)
