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

/*
 * Does an operation together with those of the other members, or by itself if
 * that is better.  as: the call, of both twins the first; rc: an error of the
 * caller, who then takes part without data and gets it back.  May switch.
 */
int vm_io_collect(struct vm_call *call, enum vm_call_id as, struct vm_io_op *op,
		  int rc);

#endif
