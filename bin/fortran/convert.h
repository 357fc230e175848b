/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the entries of the Fortran bindings do with single arguments.
 *
 * gfortran passes all arguments by reference, the lengths of strings behind
 * them, and an optional argument that is absent as NULL.  Its LOGICAL is an int
 * of 0 or 1, and a status is one of C (MPI 5.0, 20.3).
 */
#ifndef FORTRAN_CONVERT_H
#define FORTRAN_CONVERT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array.h"
#include "copy.h"
#include "section.h"
#include "text.h"

/* Tools define entries of their own; an entry may have several names. */
#define VM_F_ENTRY __attribute__((visibility("default"), weak))
#define VM_F_ENTRY_AS(name) \
	__attribute__((visibility("default"), weak, alias(name)))

/*
 * The variables that stand for something else.  Fortran has them in a COMMON
 * block, of which each program has one: its parts share it, also with its
 * libraries, and every rank has its own.  The order is that of SENTINELS in
 * modules.py.
 */
struct vm_f_sentinels {
	MPI_Fint bottom, in_place, buffer_automatic, unweighted, weights_empty,
		errcodes_ignore;
	MPI_Status status_ignore, statuses_ignore;
	char argv_null, argvs_null;
};
extern __attribute__((
	visibility("default"))) struct vm_f_sentinels vmpi_sentinels_;

static inline bool vm_f_is_sentinel(const void *at)
{
	return (uintptr_t)at - (uintptr_t)&vmpi_sentinels_ <
	       sizeof(vmpi_sentinels_);
}

static inline void *vm_f_buffer(void *buffer)
{
	if (!vm_f_is_sentinel(buffer))
		return buffer;
	if (buffer == &vmpi_sentinels_.in_place)
		return MPI_IN_PLACE;
	return buffer == &vmpi_sentinels_.buffer_automatic ?
		       MPI_BUFFER_AUTOMATIC :
		       MPI_BOTTOM;
}

/* What was detached is named as it was attached. */
static inline void vm_f_detached(void *address)
{
	void **at = address;

	if (*at == MPI_BUFFER_AUTOMATIC)
		*at = &vmpi_sentinels_.buffer_automatic;
}

static inline MPI_Status *vm_f_status(MPI_Status *status)
{
	return status == &vmpi_sentinels_.status_ignore ? MPI_STATUS_IGNORE :
							  status;
}

static inline MPI_Status *vm_f_statuses(MPI_Status *statuses)
{
	return statuses == &vmpi_sentinels_.statuses_ignore ?
		       MPI_STATUSES_IGNORE :
		       statuses;
}

static inline MPI_Fint *vm_f_errcodes(MPI_Fint *codes)
{
	return codes == &vmpi_sentinels_.errcodes_ignore ? MPI_ERRCODES_IGNORE :
							   codes;
}

static inline MPI_Fint *vm_f_weights(MPI_Fint *weights)
{
	if (weights == &vmpi_sentinels_.unweighted)
		return MPI_UNWEIGHTED;
	return weights == &vmpi_sentinels_.weights_empty ? MPI_WEIGHTS_EMPTY :
							   weights;
}

/* Indices of arrays begin with 1; MPI_UNDEFINED is negative. */
static inline MPI_Fint vm_f_index(int index)
{
	return index < 0 ? index : index + 1;
}

static inline void vm_f_indices_out(MPI_Fint *indices, int count)
{
	for (int i = 0; i < count; i++)
		indices[i]++;
}

static inline void vm_f_return(MPI_Fint *ierror, int rc)
{
	if (ierror)
		*ierror = rc;
}

/* Handles: constants are small numbers in both languages. */
#define VM_F_CONSTANTS 4096
#define VM_F_CONVERT(kind, name, type, word)                     \
	static inline type vm_f_##word(MPI_Fint number)          \
	{                                                        \
		return number >= 0 && number < VM_F_CONSTANTS ?  \
			       (type)(uintptr_t)number :         \
			       PMPI_##name##_fromint(number);    \
	}                                                        \
	static inline MPI_Fint vm_f_##word##_number(type handle) \
	{                                                        \
		return (uintptr_t)handle < VM_F_CONSTANTS ?      \
			       (MPI_Fint)(uintptr_t)handle :     \
			       PMPI_##name##_toint(handle);      \
	}
VM_F_HANDLES(VM_F_CONVERT)

#endif
