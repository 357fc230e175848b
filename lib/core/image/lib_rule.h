/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which libraries every rank must own.
 *
 * Private are libraries that call MPI, and those outside the folders of the
 * system: they belong to the program, and in a process of its own each rank had
 * its own.  The system's are shared, as between threads; so are those of
 * compilers and of memory and machines, wherever they are, of which there must
 * be one.  What the user says comes first.
 */
#ifndef CORE_IMAGE_LIB_RULE_H
#define CORE_IMAGE_LIB_RULE_H

#include "core/image/lib.h"

/* Whether a library that is open is private for its own sake. */
bool vm_lib_rule(const struct vm_image_lib *lib, const struct vm_elf *program,
		 const struct vm_image_choice *choice);

/* Whether a file calls MPI, or vmpi. */
bool vm_lib_calls_mpi(const struct vm_elf *elf);

/* Whether a library of this name is one of another MPI, which has other handles
 * and other constants. */
bool vm_lib_is_foreign(const char *name);

/* Whether a name is that of an MPI function, and whether a file defines one:
 * then it is a tool (core/image/tools.h). */
bool vm_lib_is_call(const char *name);
bool vm_lib_is_tool(const struct vm_elf *elf);

/* Whether the name of a library (libz.so.1) is in a list (libz, libz.so). */
bool vm_lib_named(const char *list, const char *name);

/*
 * Checks what the user has said, after it was carried out: each name is that of
 * a library, unless the program loads further ones itself.  0 or -VMPI_EINVAL
 * (logged).
 */
int vm_lib_rule_check(const struct vm_elf *program,
		      const struct vm_image_choice *choice,
		      const struct vm_image_lib *libs, size_t count);

#endif
