/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of module mpi_f08 that no datatype describes, because a call combines
 * their elements, divides them, or finds them by displacements: what is not
 * contiguous is copied, and copied back, as compilers do.
 *
 * Of an operation that goes on after its call the copies are kept with the
 * request.
 */
#ifndef FORTRAN_COPY_H
#define FORTRAN_COPY_H

#include "section.h"

struct vm_f_scratch;

struct vm_f_copy {
	void *base; /* what C gets */
	struct vm_f_scratch *scratch;
};

/* Copies the first `reach` bytes of a scattered array: 0 or what the call
 * returns.  Of those that are `written` the end copies back which the call has
 * changed, and no others: these the program may use meanwhile. */
int vm_f_copy_in(struct vm_f_copy *copy, const struct vm_f_any *any,
		 MPI_Count reach, bool written, const struct vm_f_call *call);
void vm_f_copy_end(struct vm_f_copy *copy);

/* Gives the copies, up to a NULL, to the request that uses them. */
int vm_f_copies_keep(MPI_Request *request, struct vm_f_copy *const copies[],
		     const struct vm_f_call *call);

/* Arrays of counts and displacements, of whichever integer. */
struct vm_f_ints {
	const void *array;
	size_t bytes;
};
#define VM_F_INTS(array) ((struct vm_f_ints){ array, sizeof(*(array)) })

/* vm_f_reach() of blocks that have counts and displacements, in elements or, if
 * each has a type, in bytes; and of all or one of those of a reduction. */
MPI_Count vm_f_reach_v(MPI_Count n, struct vm_f_ints counts,
		       struct vm_f_ints displs, MPI_Datatype type);
MPI_Count vm_f_reach_w(MPI_Count n, struct vm_f_ints counts,
		       struct vm_f_ints displs, const MPI_Fint *types);
MPI_Count vm_f_reach_sum(MPI_Count n, struct vm_f_ints counts,
			 MPI_Datatype type);
MPI_Count vm_f_reach_own(MPI_Comm comm, bool in_place, struct vm_f_ints counts,
			 MPI_Datatype type);

#endif
