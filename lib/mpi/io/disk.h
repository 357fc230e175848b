/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file as a process has it open: one descriptor for all members of this
 * process that opened it together, and what they share.
 *
 * Any thread may call these functions; those that move data block the thread.
 */
#ifndef MPI_IO_DISK_H
#define MPI_IO_DISK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/lock.h"
#include "mpi.h"

struct vm_call;

struct vm_disk {
	_Atomic int refs; /* members */
	int fd;
	bool stream; /* it has no positions: a pipe, a terminal */
	bool reads;  /* the descriptor can be read */
	bool alone;  /* all members are in this process */
	/* Writes may write back what lies between their bytes, so that all
	 * writes take locks (range.h). */
	_Atomic bool sieves;
	_Atomic MPI_Offset shared; /* the shared file pointer, if alone */
	struct vm_lock lock;	   /* guards the lists */
	struct vm_list ranges;	   /* that are locked: range.h */
	struct vm_list spare;	   /* buffers */
};

/* Opens a file: with MPI_MODE_CREATE and _EXCL if create is set.  0 or an MPI
 * error. */
int vm_disk_open(struct vm_call *call, struct vm_disk **out, const char *name,
		 int amode, bool create, int permissions);

/* Gives a reference up; the last one closes the descriptor.  0 or an errno. */
int vm_disk_drop(struct vm_disk *disk);

/* Records an errno as the error of a call, which was doing what; returns its MPI
 * class. */
int vm_disk_fail(struct vm_call *call, int error, const char *doing);

/* Sets the size in bytes: 0 or an errno. */
int vm_disk_size(const struct vm_disk *disk, MPI_Offset *size);

/*
 * Reads or writes bytes from an offset on, and says how many were moved: 0,
 * less than wanted only at the end of the file; or an errno.
 */
int vm_disk_read(struct vm_disk *disk, void *to, size_t bytes,
		 MPI_Offset offset, size_t *moved);
int vm_disk_write(struct vm_disk *disk, const void *from, size_t bytes,
		  MPI_Offset offset, size_t *moved);

/* Returns a buffer of at least so many bytes, or NULL; and takes it back. */
void *vm_disk_buffer(struct vm_disk *disk, size_t bytes);
void vm_disk_buffer_put(struct vm_disk *disk, void *buffer);

#endif
