/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the Fortran bindings (bin/fortran) need of the library beyond mpi.h: it
 * calls functions of Fortran, which expect handles as integers, and remembers
 * which language an attribute's value is of.
 *
 * The bindings are a part of programs, so this is a table that libvmpi.so
 * exports.
 */
#ifndef MPI_CALL_FORTRAN_H
#define MPI_CALL_FORTRAN_H

#include <stdbool.h>

#include "mpi.h"
#include "vmpi.h"

/* Whose a value is: an address of C; of Fortran an integer of the size of
 * addresses, or, by the functions of MPI-1, a default one. */
enum vm_attr_by { VM_ATTR_C, VM_ATTR_AINT, VM_ATTR_INT };

struct vm_fortran {
	/* The function of an object that was made just now is one of
	 * Fortran. */
	void (*op)(MPI_Op op);
	void (*errhandler)(MPI_Errhandler errhandler);
	/* The functions of a key are; `by` says of which form. */
	void (*keyval)(int keyval, enum vm_attr_by by);
	/* The attribute of an object (a handle) was set by Fortran just now. */
	void (*mark)(void *object, int keyval, enum vm_attr_by by);
	/* Whose an attribute that exists is. */
	enum vm_attr_by (*set_by)(void *object, int keyval);
};

extern VMPI_API const struct vm_fortran vmpi_fortran;

#endif
