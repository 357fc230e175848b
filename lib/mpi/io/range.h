/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of bytes of a file: between the members in this process by a list, and
 * between processes by F_OFD_SETLK.
 *
 * The kernel's locks belong to the descriptor, which the members share, so they
 * do not separate these; a process that dies loses its own.
 */
#ifndef MPI_IO_RANGE_H
#define MPI_IO_RANGE_H

#include <stdbool.h>

#include "base/list.h"
#include "mpi.h"

struct vm_disk;

/* Bytes first to end - 1; on the stack of who has them. */
struct vm_range {
	struct vm_list link;
	MPI_Offset first, end;
	bool alone; /* nobody else has any of them */
};

/* Takes the lock, when nobody has any of the bytes (alone), or nobody alone.
 * 0, or an errno: it is not taken.  May switch. */
int vm_range_take(struct vm_disk *disk, struct vm_range *range);
void vm_range_give(struct vm_disk *disk, struct vm_range *range);

#endif
