/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective accesses of several processes: each leader moves the bytes of a
 * part of the file, a domain, for all of them.
 */
#ifndef MPI_IO_EXCHANGE_H
#define MPI_IO_EXCHANGE_H

#include "mpi/io/collect.h"

/* Does the operations of a joint access; all leaders call it.  0, or an MPI
 * error: processes are gone.  May switch. */
int vm_io_exchange(struct vm_call *call, const struct vm_io_joint *joint);

#endif
