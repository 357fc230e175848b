/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays of handles, which Fortran has as integers.
 */
#ifndef FORTRAN_ARRAY_H
#define FORTRAN_ARRAY_H

#include <mpi.h>
#include <stdbool.h>

/* Kind, name in MPI's functions, type, word in ours. */
#define VM_F_HANDLES(X)                           \
	X(COMM, Comm, MPI_Comm, comm)             \
	X(ERRH, Errhandler, MPI_Errhandler, errh) \
	X(FILE, File, MPI_File, file)             \
	X(GROUP, Group, MPI_Group, group)         \
	X(INFO, Info, MPI_Info, info)             \
	X(MESSAGE, Message, MPI_Message, message) \
	X(OP, Op, MPI_Op, op)                     \
	X(REQUEST, Request, MPI_Request, request) \
	X(SESSION, Session, MPI_Session, session) \
	X(TYPE, Type, MPI_Datatype, type)         \
	X(WIN, Win, MPI_Win, win)

enum vm_f_kind {
#define VM_F_KIND_(kind, name, type, word) VM_F_##kind,
	VM_F_HANDLES(VM_F_KIND_)
#undef VM_F_KIND_
};

/* Handles of C.  Most arrays are short, and a task's stack is not large. */
struct vm_f_handles {
	enum vm_f_kind kind;
	int count;
	void **all; /* few, or allocated */
	void *few[32];
};

/* Converts an array.  What is no count has no handles: the function of C says
 * so.  Returns 0 or what vm_f_fail() returns. */
int vm_f_handles_in(struct vm_f_handles *handles, enum vm_f_kind kind,
		    const MPI_Fint *numbers, int count);

/* Frees it; _out also converts it back. */
void vm_f_handles_end(struct vm_f_handles *handles);
void vm_f_handles_out(struct vm_f_handles *handles, MPI_Fint *numbers);

/* The size of the caller's side of a communicator, and how many its collectives
 * exchange data with; how many they receive from, and send to, where these are
 * neighbours.  0: the call will find what is wrong. */
int vm_f_local(MPI_Comm comm);
int vm_f_peers(MPI_Comm comm);
int vm_f_sources(MPI_Comm comm);
int vm_f_targets(MPI_Comm comm);

/* Whether the caller is the root of a collective; where the root is on the other
 * side, it has no other name there. */
bool vm_f_is_root(MPI_Comm comm, MPI_Fint root);

/* Whether it is one of the others or both: on the side of a root which is not
 * the caller nobody takes part. */
static inline bool vm_f_is_leaf(MPI_Fint root)
{
	return root >= 0;
}

/* Raises an error that the bindings find; returns it. */
int vm_f_fail(int error);

#endif
