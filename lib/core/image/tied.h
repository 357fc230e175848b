/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether ranks may change their OS thread.
 *
 * Compilers keep addresses of thread-local memory over calls: code that waits
 * in MPI_Recv on one OS thread and continues on another one would go on using
 * the memory of the first.  A program is free of that if neither it nor a
 * library of its own has thread-local variables and none imports anything that
 * returns such an address or belongs to the calling thread.
 */
#ifndef CORE_IMAGE_TIED_H
#define CORE_IMAGE_TIED_H

#include <stddef.h>

/*
 * Memory that libc and libstdc++ use internally is no danger: they hold no
 * address while they call back, and libstdc++'s block is exchanged at every
 * switch.
 */

struct vm_elf;
struct vm_image;

/* The reason why code of this file must stay on its OS thread, as "imports
 * pthread_self: a thread's own name", in text; or NULL. */
const char *vm_elf_tied(const struct vm_elf *elf, char *text, size_t bytes);

/* As vm_elf_tied(), for a program with all its libraries, with the name of the
 * file concerned; valid as long as the image. */
const char *vm_image_tied(struct vm_image *image);

#endif
