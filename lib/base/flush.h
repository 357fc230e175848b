/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing out all data: file buffers before a process ends without exit(), and
 * bytes to a descriptor that takes few at a time.
 */
#ifndef BASE_FLUSH_H
#define BASE_FLUSH_H

#include <stddef.h>

/* Writes out the buffers of all files, but does not wait forever for one that
 * is in use. */
void vm_flush_files(void);

/* Writes count bytes, however long that takes; waits for a non-blocking
 * descriptor.  0, or -1 with errno.  Uses the system call itself: a node
 * process has a write() of its own. */
int vm_flush_bytes(int fd, const char *bytes, size_t count);

#endif
