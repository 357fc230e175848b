/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses to the data of a file: their arguments, and doing them.
 *
 * A call checks its arguments and finds its place in the view, which makes an
 * operation.  Any thread can do that; then it has a result.
 */
#ifndef MPI_IO_ACCESS_H
#define MPI_IO_ACCESS_H

#include "core/runtime/helper.h"
#include "mpi/io/file.h"

/* Where an access begins: at an offset of the call, or at a file pointer. */
enum vm_io_start { VM_IO_AT, VM_IO_OWN, VM_IO_SHARED };

struct vm_io_args {
	MPI_File handle;
	enum vm_io_start start;
	bool write;
	/* Collective: the call, of both twins the first; else 0. */
	enum vm_call_id all;
	MPI_Offset offset; /* AT */
	const void *buf;
	MPI_Count count;
	MPI_Datatype datatype;
};

struct vm_io_op {
	struct vm_helper_job job; /* first */
	struct vm_file *file;
	struct vm_data data;
	size_t bytes;	  /* in the file */
	MPI_Offset first; /* byte of the view */
	bool write;
	/* If the data are converted: */
	const void *buf;
	const struct vm_type *type;
	size_t count;
	size_t each; /* bytes of an element in the file */
	/* The result: bytes of data that were moved, and an errno, or an MPI
	 * error. */
	size_t moved;
	int error, class;
	char *what;	      /* details of class; NULL: there are none */
	struct vmpi_req *req; /* of one that was started; else NULL */
	/* Of a collective one that was started: */
	enum vm_call_id id, all;
	uint32_t turn;
	int rc; /* the error of its arguments */
};

/* Checks an offset of a call, in etypes, for `bytes` bytes: 0 with *byte, or an
 * MPI error. */
int vm_check_offset(struct vm_call *call, const struct vm_file *file,
		    MPI_Offset offset, size_t bytes, MPI_Offset *byte);

/* Makes the operation of a call and moves the file pointer behind it: 0 or an
 * MPI error.  May switch. */
int vm_io_op_init(struct vm_call *call, struct vm_io_op *op,
		  const struct vm_io_args *args);

/* Does it.  call: the caller's, if the data are converted; else NULL will do. */
void vm_io_op_do(struct vm_call *call, struct vm_io_op *op);

/* Whether what lies between its bytes may be read, or written back. */
bool vm_io_may_sieve(const struct vm_io_op *op);

/* Sets the status, also of one that failed, which may be MPI_STATUS_IGNORE; 0 or
 * an MPI error. */
int vm_io_op_result(struct vm_call *call, const struct vm_io_op *op,
		    MPI_Status *status);

/* Whole entries: of blocking accesses, of those that give a request, and of the
 * two halves of split ones. */
int vm_io_now(struct vm_call *call, const struct vm_io_args *args,
	      MPI_Status *status);
int vm_io_start(struct vm_call *call, const struct vm_io_args *args,
		MPI_Request *request);
int vm_io_begin(struct vm_call *call, const struct vm_io_args *args);

#endif
