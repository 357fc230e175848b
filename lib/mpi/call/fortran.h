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
#include <stddef.h>

#include "mpi.h"
#include "vmpi.h"

/* Whose a value is: an address of C; of Fortran an integer of the size of
 * addresses, or, by the functions of MPI-1, a default one. */
enum vm_attr_by { VM_ATTR_C, VM_ATTR_AINT, VM_ATTR_INT };

/* What describes a committed datatype; `basic`: the predefined type of which all
 * of it consists, or MPI_BYTE. */
struct vm_fortran_type {
	MPI_Count size, lb, extent, true_lb, true_extent;
	MPI_Datatype basic;
	int basic_bytes;
};

/* A communicator: the caller's rank, the size of its side, with how many others
 * a collective exchanges data, and how many neighbours it receives from and sends
 * to. */
struct vm_fortran_comm {
	int rank, local, peers, sources, targets;
	bool inter;
};

enum vm_fortran_object {
	VM_FORTRAN_NONE,
	VM_FORTRAN_COMM,
	VM_FORTRAN_WIN,
	VM_FORTRAN_FILE,
};

typedef bool vm_fortran_run(void *arg, ptrdiff_t offset, size_t bytes);

/* What is to be done around an operation, on a task of the rank. */
struct vm_around {
	void (*begin)(void *data); /* before each MPI_Start */
	void (*end)(void *data);   /* when it is complete, before others know */
	void (*free)(void *data);  /* the request has ended */
	void *data;
};

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
	/* These raise no errors: 0 says that the call in question will. */
	int (*type)(struct vm_fortran_type *out, MPI_Datatype type);
	int (*comm)(struct vm_fortran_comm *out, MPI_Comm comm);
	/* Calls run() with each block of bytes that count elements consist of,
	 * until one is refused: whether none was. */
	int (*walk)(MPI_Datatype type, MPI_Count count, vm_fortran_run *run,
		    void *arg);
	/* Raises an error of a call ("MPI_Send") on the object whose handler is
	 * responsible; NULL: on MPI_COMM_SELF.  Returns what the call does. */
	int (*fail)(const char *call, enum vm_fortran_object of, void *object,
		    int error, const char *what);
	/* See vm_joined_around(). */
	int (*around)(MPI_Request *request, const struct vm_around *around);
	/* MPI_Psend_init or MPI_Precv_init of one element, whose bytes are
	 * divided. */
	int (*part)(MPI_Request *request, bool send, void *buf, int partitions,
		    MPI_Datatype whole, int peer, int tag, MPI_Comm comm,
		    MPI_Info info);
};

extern VMPI_API const struct vm_fortran vmpi_fortran;

#endif
