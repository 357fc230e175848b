/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of module mpi_f08: arrays of any type and any number of dimensions,
 * which need not be contiguous.
 *
 * Those stand for their elements in Fortran's order, as if these were copied to
 * a contiguous buffer (MPI 4.1, 19.1.12).  A buffer that a call uses whole is
 * described by a datatype; others are copied (copy.h).
 */
#ifndef FORTRAN_SECTION_H
#define FORTRAN_SECTION_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpi/call/fortran.h"

/* What gfortran, since version 8, passes for TYPE(*), DIMENSION(..). */
struct vm_f_any {
	void *base;
	size_t offset;
	struct {
		size_t bytes; /* of an element */
		int version;
		signed char rank, type;
		short attribute;
	} element;
	ptrdiff_t span; /* what strides count */
	struct {
		ptrdiff_t stride, lower, upper;
	} dim[];
};

/* A call, and the number of the object whose error handler is responsible. */
struct vm_f_call {
	const char *name;
	enum vm_fortran_object of;
	const MPI_Fint *number;
};

/* Raises an error of the call; returns what the call does. */
int vm_f_refuse(const struct vm_f_call *call, int error, const char *what);

static inline ptrdiff_t vm_f_extent(const struct vm_f_any *any, int k)
{
	return any->dim[k].upper - any->dim[k].lower + 1;
}

/* In bytes. */
static inline ptrdiff_t vm_f_stride(const struct vm_f_any *any, int k)
{
	return any->dim[k].stride *
	       (any->span ? any->span : (ptrdiff_t)any->element.bytes);
}

/* Whether it is not what follows in memory from its base on: elements with gaps
 * between them, and no constant of MPI. */
bool vm_f_is_scattered(const struct vm_f_any *any);

/* The elements of a scattered array. */
MPI_Count vm_f_elements(const struct vm_f_any *any);

/* How many bytes of a contiguous buffer n blocks of count elements need, which
 * follow each other; 0: none, or the call will find what is wrong; negative:
 * some before it. */
MPI_Count vm_f_reach(MPI_Count n, MPI_Count count, MPI_Datatype type);

/* Refuses a buffer whose elements are fewer than `reach` bytes: 0 or what the
 * call returns. */
int vm_f_check_reach(const struct vm_f_any *any, MPI_Count reach,
		     const struct vm_f_call *call);

/* Refuses a scattered array as the memory of a window or for buffered sends,
 * which MPI does, too (MPI 4.1, 3.6 and 12.2.1). */
int vm_f_check_region(const struct vm_f_any *any, const struct vm_f_call *call);

/* A buffer as C is to see it: count elements of type, from base on. */
struct vm_f_section {
	void *base;
	MPI_Count count;
	MPI_Datatype type;
	bool owned; /* the type is ours: one element is the whole buffer */
};

/* Returns 0 or what the call returns. */
int vm_f_section_begin(struct vm_f_section *section, const struct vm_f_any *any,
		       MPI_Count count, MPI_Datatype type,
		       const struct vm_f_call *call);
void vm_f_section_end(struct vm_f_section *section);

/* The elements of all partitions; 0: the call will find what is wrong. */
static inline MPI_Count vm_f_parts(int partitions, MPI_Count count)
{
	return partitions > 0 && count > 0 ? partitions * count : 0;
}

#endif
