/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The libraries of a program, those that its libraries need included, as the
 * dynamic linker itself finds them: a program that is started with
 * LD_TRACE_LOADED_OBJECTS set prints them and exits, as with ldd(1).  So every
 * rule about search paths holds here too.
 */
#ifndef CORE_IMAGE_LDD_H
#define CORE_IMAGE_LDD_H

#include <stdbool.h>
#include <stddef.h>

#include "core/object/elf.h"

/*
 * The dynamic linker's list for a program, a library per line, in its order;
 * with those of LD_PRELOAD, or without.  NULL (errno; ENOEXEC: only glibc's
 * linker would print, and others would start the program).  free() it.
 */
char *vm_ldd_run(const struct vm_elf *program, bool preloaded);

/* Names of the libraries of a list, as programs ask for them, one per call,
 * into name[bytes]; start with *at = list.  False at the end, or without a
 * list. */
bool vm_ldd_next(const char **at, char *name, size_t bytes);

#endif
