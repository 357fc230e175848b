/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles as integers: what Fortran, and languages that speak its interface,
 * hold in place of a handle.
 *
 * Predefined handles are the ABI's small numbers already.  Any other handle is
 * an address and gets the next number of its rank when it is converted for the
 * first time; one that never is costs nothing.  Freed objects give their memory
 * to new ones (mpi/call/object.h), so a number is used again with its address, and
 * the table grows with the objects alive at a time, not with conversions.
 */
#ifndef MPI_CALL_FINT_H
#define MPI_CALL_FINT_H

#include "mpi/call/state.h"

struct vm_fints;

/* Kinds of handles: their name in functions, their type. */
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
