/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreement of the members of a file: each brings a value that is to be the same
 * at all, and how it fared; all hear of the first error.
 */
#ifndef MPI_IO_AGREE_H
#define MPI_IO_AGREE_H

#include "mpi/comm/split.h"
#include "mpi/io/file.h"

/* What a member says; goes to other processes. */
struct vm_io_word {
	int64_t value;
	int error; /* an MPI error */
	bool yes;
	char name[24]; /* of the value */
	char what[88]; /* the details of the error */
};

struct vm_io_agree {
	struct vm_coll coll; /* first: meetings know this */
	struct vm_file *file;
	bool yes; /* all say so; set by the meeting */
};

/*
 * Meets the other members.  rc: the caller's error, which is reported to all;
 * name: of the value.  0, or an MPI error.  May switch.
 */
int vm_io_agree(struct vm_call *call, struct vm_file *file, int64_t value,
		const char *name, int rc);

/* The same of a value that all have or not: *all tells whether all have. */
int vm_io_agree_all(struct vm_call *call, struct vm_file *file, bool yes,
		    bool *all, int rc);

/* The same; and each member of a process gets the descriptor that the first of
 * them has opened. */
int vm_io_agree_disk(struct vm_call *call, struct vm_file *file, int rc);

#endif
