/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notices: short texts that processes of one user put up for all processes of
 * the user on this host.
 *
 * A notice is a file in /dev/shm, which only its user can open.  It is there,
 * with all its text, or not at all.  Its process holds a lock on it, so that
 * the notices of processes that have died count as taken down.  All functions
 * make system calls; any thread may call them.
 */
#ifndef MPI_DYNAMIC_NOTICE_H
#define MPI_DYNAMIC_NOTICE_H

#include <stddef.h>

struct vm_notice;

/*
 * Puts up a notice: `kind` is a word, `name` any string.  0; -VMPI_ESTATE: there
 * is one of this kind and name; -VMPI_ENOMEM; -VMPI_EIO: there is no place for
 * it, and errno says why.
 */
int vm_notice_put(struct vm_notice **notice, const char *kind, const char *name,
		  const char *text);

/* Removes the notices of processes that have died. */
void vm_notices_clean(void);

/* Takes it down. */
void vm_notice_remove(struct vm_notice *notice);

/* Copies its text; text may be NULL.  0; -VMPI_ENOENT: there is none;
 * -VMPI_ELIMIT: `bytes` is too small. */
int vm_notice_read(const char *kind, const char *name, char *text,
		   size_t bytes);

#endif
