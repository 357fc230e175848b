/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared libraries a program needs, and which of them every rank must own.
 *
 * A library keeps state between calls, and the state belongs to a rank: a
 * library is copied per rank like the program, unless it is one of the system's
 * (lib_rule.h).  So is a tool that defines MPI functions, and every library
 * that needs one of those.
 */
#ifndef CORE_IMAGE_LIB_H
#define CORE_IMAGE_LIB_H

#include <stdbool.h>
#include <stddef.h>

#include "core/object/elf.h"

struct vm_image_lib {
	char *name;	      /* as programs ask for it: libz.so.1 */
	char *path;	      /* where the dynamic linker finds it */
	struct vm_elf elf;    /* open if own or a tool */
	size_t place;	      /* in the dynamic linker's order */
	bool before;	      /* the runtime, in that order */
	bool own;	      /* one copy per rank */
	bool tool;	      /* defines MPI functions (core/image/tools.h) */
	bool ours;	      /* added by vm_image_lib_add() */
	struct link_map *map; /* a shared one, once loaded */
	bool lazy;	      /* takes symbols from the program: bound late */
};

/* What the user has said about libraries; NULL: nothing. */
struct vm_image_choice {
	const char *private; /* names, separated by commas */
	const char *shared;
	bool later; /* other copies, of this or another program, run */
};

/*
 * The libraries of program, but for the C library and vmpi: shared ones first,
 * then those to be copied, each after those it needs itself.  0;
 * -VMPI_ENOENT, -VMPI_EINVAL, -VMPI_ENOMEM (logged).
 */
int vm_image_libs(const struct vm_elf *program,
		  const struct vm_image_choice *choice,
		  struct vm_image_lib **libs, size_t *count);

/*
 * Adds a library of vmpi, which is beside the node program, as one to be
 * copied, after those that were added before and before all others.  0,
 * -VMPI_ENOENT or -VMPI_ENOMEM (logged).
 */
int vm_image_lib_add(struct vm_image_lib **libs, size_t *count,
		     const char *name);
void vm_image_libs_free(struct vm_image_lib *libs, size_t count);

#endif
