/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A window of a file: a buffer in which the data of several operations are put
 * together before they are written, or from which they are handed out.
 */
#ifndef MPI_IO_WINDOW_H
#define MPI_IO_WINDOW_H

#include "core/local/layout.h"
#include "mpi/io/access.h"

/* An operation, or a part of it, as far as it is not done. */
struct vm_io_source {
	struct vm_io_op *op;
	struct vm_view_walk walk;
	struct vm_cursor memory;
};

struct vm_io_window {
	struct vm_disk *disk;
	bool write;
	bool sieve;	       /* gaps may be written back */
	size_t most;	       /* bytes that it has room for */
	MPI_Offset first, end; /* where it is */
	char *buffer, *old;
	uint64_t *bits; /* of bytes with data: cover.h */
};

/* Allocates it, with disk, write, sieve and most set: 0 or ENOMEM; it can be
 * closed in any case. */
int vm_io_window_open(struct vm_io_window *window);
void vm_io_window_close(struct vm_io_window *window);

/* Goes to a place, where it has no data yet. */
void vm_io_window_go(struct vm_io_window *window, MPI_Offset first,
		     MPI_Offset end);

/* Copies what a source has in the window; a read counts it as moved. */
void vm_io_window_copy(struct vm_io_window *window,
		       struct vm_io_source *source);
/* Marks it, to be read. */
void vm_io_window_mark(struct vm_io_window *window,
		       const struct vm_io_source *source);

/* Reads what is marked: 0 or an errno; *end is the end of the file, if that
 * comes before the window's. */
int vm_io_window_read(struct vm_io_window *window, MPI_Offset *end);
/* Writes the data: 0 or an errno; *end is behind what was written. */
int vm_io_window_write(struct vm_io_window *window, MPI_Offset *end);

/* The next piece of a walk that begins before `end`, up to there; 0: none. */
size_t vm_view_walk_before(struct vm_view_walk *walk, MPI_Offset *at,
			   MPI_Offset end);

/* Copies the next n bytes of memory to or from a buffer. */
void vm_io_source_copy(struct vm_io_source *source, char *buffer, size_t n);

#endif
