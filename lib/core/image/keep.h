/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program stays what it was when it was loaded, whatever is written to its
 * file; the kernel promises that for a process ("Text file busy").
 *
 * Code is mapped from the program's own file (text.h) only while that is safe.
 * A lease makes whoever opens the file for writing wait, until the copies have
 * their code from memory instead; then they go on, and so do the ranks.
 */
#ifndef CORE_IMAGE_KEEP_H
#define CORE_IMAGE_KEEP_H

#include <stdbool.h>
#include <stddef.h>

struct vm_image;

/* Whether code may be mapped from the file: it got a lease (unless `leased` is
 * NULL), or nobody who may write to it would; root replaces the files of a system
 * by others. */
bool vm_image_keep_may(int fd, bool *leased);

/* Takes a descriptor with a lease over, whose file a part of the image is mapped
 * from.  If it is written to already, the part gets its memory here. */
void vm_image_keep_add(struct vm_image *image, size_t part, int fd);

/* Gives a part of an image memory instead of the file; all that have a lease. */
void vm_image_keep_memory(struct vm_image *image, size_t part);
void vm_image_keep_all(void);

/* Gives the leases of an image back.  Before it is unloaded. */
void vm_image_keep_drop(const struct vm_image *image);

/* The calling thread, which has blocked the signal, gets it whenever a file is
 * about to be written to, and calls _look() then. */
void vm_image_keep_serve(int signal);
void vm_image_keep_look(void);

/* In a child made by fork(): it must not keep writers waiting. */
void vm_image_keep_fork_child(void);

#endif
