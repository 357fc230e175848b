/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file that copies are loaded from: a patched ELF file, in memory.
 *
 * It has no name in a folder, the dynamic linker opens it through /proc.  Only
 * under valgrind it is a whole file with a name, because valgrind reads the
 * symbols of what is mapped, at the moment it is mapped.
 */
#ifndef CORE_IMAGE_FILE_H
#define CORE_IMAGE_FILE_H

#include <stdbool.h>

#include "core/object/elf.h"

struct vm_image_file {
	int fd;
	int text;    /* the program's own file (core/image/text.h), or -1 */
	bool leased; /* there is a lease on `text` */
	bool named;
	char path[128];	 /* no other file has had it */
	char alias[160]; /* named: valgrind knows files by their names, so each
			   copy is loaded by one of its own */
};

/* Whether such files are whole and have names. */
bool vm_image_file_named(void);

/* Writes the view of elf into a new file.  0; -VMPI_ENOTSUP, -VMPI_ENOMEM
 * (logged). */
int vm_image_file_make(struct vm_image_file *file, struct vm_elf *elf);

/* The path to load a copy from. */
const char *vm_image_file_path(struct vm_image_file *file, int copy);

/* Closes the file.  Copies loaded from it stay, and the names they have
 * got, because valgrind (since 3.24) opens them when it first prints a line. */
void vm_image_file_close(struct vm_image_file *file);

/* Removes the names that processes have left that are no more. */
void vm_image_file_clean(void);

#endif
