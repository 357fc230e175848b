/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moving data between memory and a file, both in pieces.
 *
 * Long pieces go straight from one to the other.  Short ones that lie close
 * together in the file go through a buffer, with one system call for many
 * (data sieving).
 */
#ifndef MPI_IO_MOVE_H
#define MPI_IO_MOVE_H

#include "core/local/layout.h"
#include "mpi/io/view.h"

struct vm_disk;

struct vm_move {
	struct vm_disk *disk;
	struct vm_view_walk
		walk; /* where the rest of the data is in the file, */
	struct vm_cursor memory; /* and where in memory */
	bool write;
	bool sieve;  /* what lies between may be read, or written back */
	bool locked; /* the caller has locked all of it */
	size_t buffer_bytes; /* the longest buffer */
	size_t moved;	     /* bytes of data */
};

/* Moves all; a read ends at the end of the file.  0 or an errno; what was moved
 * before an error counts. */
int vm_move_all(struct vm_move *move);

/* A system call takes as long as moving so many bytes from or to the kernel: at
 * its best 10 KiB, on ext4 90 where the file has long folios. */
#define VM_MOVE_CALL_BYTES (16 << 10)

/* Whether `bytes` of data, in so many contiguous parts of a stretch, are written
 * faster with the gaps between them: the stretch is read, too. */
static inline bool vm_move_fills(size_t stretch, size_t bytes, size_t runs)
{
	return stretch + 2 * (stretch - bytes) < runs * VM_MOVE_CALL_BYTES;
}

#endif
