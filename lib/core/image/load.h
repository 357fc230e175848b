/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside the image loader: what image.c and load.c share.
 */
#ifndef CORE_IMAGE_LOAD_H
#define CORE_IMAGE_LOAD_H

#include "core/image/image.h"
#include "core/image/file.h"
#include "core/image/tools.h"

struct vm_image {
	struct vm_elf program;
	char *name; /* as the user calls it */
	struct vm_image_lib *libs;
	size_t lib_count;
	size_t own_first; /* libs[own_first...] are copied */
	struct vm_image_choice choice;
	bool ordinary; /* not linked by vmpicc */
	bool single;   /* one copy, loaded from the file itself, */
	int lease;     /* with a descriptor for that, or -1; */
	bool may;      /* it may stay mapped from there (keep.h) */
	/* Of an ordinary executable: the first of the own libraries are ours
	 * (bin/image), and what is bound again. */
	size_t rank_lib_count;
	struct vm_image_bind *bind;
	size_t part_count; /* objects of a copy: own libraries and program */
	ElfW(Addr) descriptor; /* offset in the program */
	int ranks;
	char tied[256]; /* vm_image_tied() */
	bool merged;	/* data and bss share a mapping, to save mappings */
	struct vm_image_hook *hooks; /* vm_image_tools_find() */
	size_t hook_count;
	struct vm_image_copy *copies;
	struct link_map **maps;	     /* part_count for each copy */
	struct vm_image_file *files; /* of the parts, while copies are loaded */
	/* Any thread: those that may be at libc's list of handlers, those in
	 * fork(). */
	_Atomic int listing, forking;
};

/* Part `index` of a copy: a library of its own, or at last the program. */
static inline struct vm_elf *vm_image_part(const struct vm_image *image,
					   size_t index)
{
	struct vm_image *writable = (struct vm_image *)(uintptr_t)image;

	return index + 1 < image->part_count ?
		       &image->libs[image->own_first + index].elf :
		       &writable->program;
}

static inline struct link_map *vm_image_map(const struct vm_image_copy *copy)
{
	/* A handler of signals may look while the copy is loaded. */
	return __atomic_load_n(&copy->maps[copy->image->part_count - 1],
			       __ATOMIC_ACQUIRE);
}

/* Loads the single copy from the program's own file and runs its constructors.
 * 0 or -VMPI_EINVAL (logged). */
int vm_image_load_single(struct vm_image_copy *copy);

/* Unloads what vm_image_load() has loaded as copies. */
void vm_image_unload(struct vm_image *image);

/* Runs constructors, or destructors, of an object that a rank has opened. */
void vm_image_code_start(struct vm_image_copy *copy,
			 const struct vm_elf_code *code, ElfW(Addr) base);
void vm_image_code_end(struct vm_image_copy *copy,
		       const struct vm_elf_code *code, ElfW(Addr) base);

#endif
