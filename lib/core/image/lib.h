/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared libraries a program needs, and which of them every rank must own.
 *
 * A library that calls MPI keeps state between the calls, and the state belongs
 * to a rank: such a library is copied per rank like the program, and so is
 * every library that needs one of those, and libgfortran, whose units are
 * files of a rank.  So is a tool that defines MPI functions.  All others are
 * shared, as between threads.
 */
#ifndef CORE_IMAGE_LIB_H
#define CORE_IMAGE_LIB_H

#include <stdbool.h>
#include <stddef.h>

#include "core/image/elf.h"

struct vm_image_lib {
	char *name;	      /* as programs ask for it: libz.so.1 */
	char *path;	      /* where the dynamic linker finds it */
	struct vm_elf elf;    /* open if own or a tool */
	size_t place;	      /* in the dynamic linker's order */
	bool before;	      /* the runtime, in that order */
	bool own;	      /* one copy per rank */
	bool tool;	      /* defines MPI functions (core/image/tools.h) */
	struct link_map *map; /* a shared one, once loaded */
	bool lazy;	      /* takes symbols from the program: bound late */
};

/*
 * The libraries of program, but for the C library and vmpi: shared ones first,
 * then those to be copied, each after those it needs itself.  0;
 * -VMPI_ENOENT, -VMPI_EINVAL, -VMPI_ENOMEM (logged).
 */
int vm_image_libs(const struct vm_elf *program, struct vm_image_lib **libs,
		  size_t *count);
void vm_image_libs_free(struct vm_image_lib *libs, size_t count);

#endif
