/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective accesses: what the members ask for together is moved in the order
 * of the file, whoever asks for it (two phases).
 *
 * The members of a process meet and leave their operations to the first of them,
 * the leader; leaders of several processes share the file among each other.
 */
#ifndef MPI_IO_COLLECT_H
#define MPI_IO_COLLECT_H

#include "mpi/io/access.h"

/* What a leader knows of a joint access. */
struct vm_io_joint {
	struct vm_file *file;
	bool write;
	bool sieve; /* gaps may be written back */
	/* Of all members: their bytes in the file, how many of them are data, and
	 * how long a window may be. */
	MPI_Offset first, end;
	size_t bytes, most;
	struct vm_io_op **ops; /* of this process: those with data */
	size_t count;
};

/*
 * Does an operation together with those of the other members, or by itself if
 * that is better.  as: the call, of both twins the first; rc: an error of the
 * caller, who then takes part without data and gets it back.  May switch.
 */
int vm_io_collect(struct vm_call *call, enum vm_call_id as, struct vm_io_op *op,
		  int rc);

#endif
