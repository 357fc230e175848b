/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the modules have that C does not: comparison of handles, the size of a
 * variable, and a call that does nothing but keep the compiler from moving
 * accesses to its argument.
 */
#include "convert.h"

#define COMPARE(kind, name, type, word)                                  \
	VM_F_ENTRY MPI_Fint vmpi_##word##_eq_(MPI_Fint *a, MPI_Fint *b); \
	MPI_Fint vmpi_##word##_eq_(MPI_Fint *a, MPI_Fint *b)             \
	{                                                                \
		return *a == *b;                                         \
	}                                                                \
	VM_F_ENTRY MPI_Fint vmpi_##word##_ne_(MPI_Fint *a, MPI_Fint *b); \
	MPI_Fint vmpi_##word##_ne_(MPI_Fint *a, MPI_Fint *b)             \
	{                                                                \
		return *a != *b;                                         \
	}
VM_F_HANDLES(COMPARE)

VM_F_ENTRY void mpi_sizeof_(struct vm_f_any *x, MPI_Fint *size,
			    MPI_Fint *ierror);
void mpi_sizeof_(struct vm_f_any *x, MPI_Fint *size, MPI_Fint *ierror)
{
	*size = (MPI_Fint)x->element.bytes;
	vm_f_return(ierror, MPI_SUCCESS);
}
VM_F_ENTRY_AS("mpi_sizeof_")
void pmpi_sizeof_(struct vm_f_any *x, MPI_Fint *size, MPI_Fint *ierror);

VM_F_ENTRY void mpi_f_sync_reg_(void *buffer);
void mpi_f_sync_reg_(void *buffer)
{
}
VM_F_ENTRY_AS("mpi_f_sync_reg_") void pmpi_f_sync_reg_(void *buffer);
