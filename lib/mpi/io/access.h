/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses to the data of a file: their arguments, and doing them.
 */
#ifndef MPI_IO_ACCESS_H
#define MPI_IO_ACCESS_H

#include "mpi/io/file.h"

/* Where an access begins: at an offset of the call, or at a file pointer. */
enum vm_io_start { VM_IO_AT, VM_IO_OWN };

struct vm_io_args {
	MPI_File handle;
	enum vm_io_start start;
	bool write;
	bool all;	   /* collective */
	MPI_Offset offset; /* AT */
	const void *buf;
	MPI_Count count;
	MPI_Datatype datatype;
};

/* Checks an offset of a call, in etypes, for `bytes` bytes: 0 with *byte, or an
 * MPI error. */
int vm_check_offset(struct vm_call *call, const struct vm_file *file,
		    MPI_Offset offset, size_t bytes, MPI_Offset *byte);

/* A blocking access: the whole entry. */
int vm_io_now(struct vm_call *call, const struct vm_io_args *args,
	      MPI_Status *status);

#endif
