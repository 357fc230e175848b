/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that is mapped into memory: what a process writes there stays when it
 * dies, whatever of.
 *
 * All space of a new file is allocated when it is made, so that a full file
 * system is an error there and never a SIGBUS at a later store.
 */
#ifndef BASE_MAPFILE_H
#define BASE_MAPFILE_H

#include <stdbool.h>
#include <stddef.h>

struct vm_mapfile {
	void *base; /* NULL: closed */
	size_t bytes;
};

/*
 * Makes the file at path, readable by others if `shared`, with that many bytes,
 * all zeros, and maps it for writing; NULL: only memory.  A file that was there
 * is emptied first.  0, or -VMPI_EIO after a log of path and reason; the file
 * is removed then.
 */
int vm_mapfile_create(struct vm_mapfile *map, const char *path, size_t bytes,
		      bool shared);

/*
 * Maps a private copy of the file at path, which may be changed.  0;
 * -VMPI_ENOENT, not logged: there is none; -VMPI_EINVAL, not logged: it has
 * less than `least` bytes; -VMPI_EIO, logged.
 */
int vm_mapfile_open(struct vm_mapfile *map, const char *path, size_t least);

/* Unmaps it; what is closed may be closed again. */
void vm_mapfile_close(struct vm_mapfile *map);

/*
 * Allocates bytes of an open file from `from` on, which it may be longer by
 * then. Result: 0, or an errno; no signal for a limit of the size of files.
 */
int vm_mapfile_allocate(int fd, size_t from, size_t bytes);

/* The same, but its bytes are allocated when they are first written to: for
 * files that live in memory only. */
int vm_mapfile_reserve(int fd, size_t bytes);

/* Tells a program's leak sanitizer, if it has one, that pointers in mapped memory
 * keep what they point to; or no longer. */
void vm_mapped_root(const void *base, size_t bytes, bool there);

#endif
