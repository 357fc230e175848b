/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of module mpi_f08: arrays of any type and any number of dimensions,
 * which need not be contiguous.
 */
#ifndef FORTRAN_SECTION_H
#define FORTRAN_SECTION_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

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

/* A buffer as C is to see it: count elements of type, from base on. */
struct vm_f_section {
	void *base;
	MPI_Count count;
	MPI_Datatype type;
	bool owned; /* the type is ours: it describes what is not contiguous */
};

/* Returns 0 or what vm_f_fail() returns. */
int vm_f_section_begin(struct vm_f_section *section, struct vm_f_any *any,
		       MPI_Count count, MPI_Datatype type);
void vm_f_section_end(struct vm_f_section *section);

/* A buffer that no datatype can describe, because the call combines elements,
 * or finds them by displacements: what is not contiguous is copied, as
 * compilers do.  Calls that return before they are done cannot have it. */
struct vm_f_copy {
	void *base;
	bool owned;
};

int vm_f_copy_in(struct vm_f_copy *copy, struct vm_f_any *any, bool blocking);
void vm_f_copy_end(struct vm_f_copy *copy, struct vm_f_any *any, bool written);

#endif
