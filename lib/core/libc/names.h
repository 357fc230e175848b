/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What files define for others: a table in which names are found quickly.
 *
 * The first that was added wins, as for the dynamic linker.
 */
#ifndef CORE_LIBC_NAMES_H
#define CORE_LIBC_NAMES_H

#include <link.h>
#include <stddef.h>

struct vm_names;

/* name NULL: an entry that is free.  The names are those of the files. */
struct vm_name {
	const char *name;
	size_t file; /* as it was added */
	const ElfW(Sym) * symbol;
};

/* A table for at most so many symbols, or NULL: out of memory. */
struct vm_names *vm_names_new(size_t symbols);
void vm_names_free(struct vm_names *names);

/* Adds what a file defines, unless the name is known already. */
void vm_names_add(struct vm_names *names, const char *name, size_t file,
		  const ElfW(Sym) * symbol);

/* Or NULL. */
const struct vm_name *vm_names_find(const struct vm_names *names,
				    const char *name);

#endif
