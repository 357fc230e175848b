/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversion of handles to integers, as used by Fortran and by languages that
 * use its interface.
 *
 * Predefined handles are small numbers already.  Any other handle is an address
 * and is given the rank's next number when it is first converted.  Memory of
 * freed objects is reused for new ones (mpi/call/object.h), and the number of
 * an address with it, so the table grows with the number of live objects, not
 * of conversions.
 */
#ifndef MPI_CALL_FINT_H
#define MPI_CALL_FINT_H

#include "mpi/call/state.h"

struct vm_fints;

/* Kinds of handles: name in functions, type. */
#define VM_FINT_KINDS(X)              \
	X(Comm, MPI_Comm)             \
	X(Errhandler, MPI_Errhandler) \
	X(File, MPI_File)             \
	X(Group, MPI_Group)           \
	X(Info, MPI_Info)             \
	X(Message, MPI_Message)       \
	X(Op, MPI_Op)                 \
	X(Request, MPI_Request)       \
	X(Session, MPI_Session)       \
	X(Type, MPI_Datatype)         \
	X(Win, MPI_Win)

enum vm_fint_kind {
#define VM_FINT_KIND_(name, type) VM_FINT_##name,
	VM_FINT_KINDS(VM_FINT_KIND_)
#undef VM_FINT_KIND_
};

/* Frees the table; NULL is fine. */
void vm_fints_free(struct vm_fints *fints);

#endif
