/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tools that stand before MPI functions (PMPI).
 *
 * A library before the runtime in the dynamic linker's order, or of LD_PRELOAD,
 * may define MPI functions itself and call ours by their other names; so may the
 * program.  In the node process the runtime is the
 * executable and would always be found first.  So the loader binds the calls of
 * each copy again, in the order of an ordinary process; and so it does with other
 * names of the process, such as libc's, that the program or a library has.
 */
#ifndef CORE_IMAGE_TOOLS_H
#define CORE_IMAGE_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/object/elf.h"

struct vm_image;
struct vm_image_copy;

/* A place for the address of an MPI function, and who defines the function.
 * `at` and `by` are libraries of the image, or their number for the program. */
#define VM_HOOK_STACK_END SIZE_MAX /* `by`: a rank's own variable for it */
struct vm_image_hook {
	size_t at, by;
	ElfW(Addr) place, value; /* offsets in the two */
};

/* Finds the places in the program and the libraries that call MPI.  0 or
 * -VMPI_ENOMEM (logged). */
int vm_image_tools_find(struct vm_image *image);

/* Binds those of a copy, when it is loaded completely.  0 or -VMPI_EINVAL
 * (logged). */
int vm_image_tools_bind(const struct vm_image_copy *copy);

#endif
