/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that exist twice: MPI_x, whose counts are int, and MPI_x_c, whose counts
 * are MPI_Count.
 *
 * Their files, the list mpi_twins of lib/mpi/meson.build, are compiled twice,
 * the second time with VM_LARGE.  So they have entries and static functions
 * only.  What they call exists once: it takes MPI_Count, and arrays as a struct
 * vm_ints.
 */
#ifndef MPI_CALL_TWIN_H
#define MPI_CALL_TWIN_H

#include <stdbool.h>

#include "mpi.h"

/*
 * vm_count is the type of a count, and of a displacement; VM_TWIN(PMPI_x) is the
 * function's name, VM_TWIN(VM_CALL_Send) the number of this one: VM_TWIN_AFTER
 * behind that of the call with int (VM_BOTH).
 */
#ifdef VM_LARGE
typedef MPI_Count vm_count;
#define VM_TWIN(name) name##_c
#define VM_TWIN_AFTER 1
#else
typedef int vm_count;
#define VM_TWIN(name) name
#define VM_TWIN_AFTER 0
#endif

/* Tells whether a count is larger than those of int; false, at no cost, if it
 * is one. */
static inline bool vm_count_is_large(vm_count count)
{
	return count != (int)count && count > 0;
}

/* Returns a number as an output of a call: MPI_UNDEFINED if it is negative or
 * does not fit. */
static inline vm_count vm_count_out(MPI_Count number)
{
	vm_count out = (vm_count)number;

	return number < 0 || out != number ? MPI_UNDEFINED : out;
}

#endif
