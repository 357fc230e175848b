/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ordinary executables: position-independent programs as any compiler makes
 * them, which vmpicc has not linked.
 *
 * The dynamic linker loads such a file once and first, and refuses it as a
 * library; patched it takes it as one, as often as wanted.  What a program may
 * expect because it is the first is made up for in bind.h, enter.h and tls.h.
 */
#ifndef CORE_IMAGE_ORDINARY_H
#define CORE_IMAGE_ORDINARY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/object/elf.h"

/*
 * The reason why an executable cannot be loaded once per rank, as "it is linked
 * at a fixed address", in text; or NULL.
 */
const char *vm_ordinary_why(const struct vm_elf *elf, char *text, size_t bytes);

/* Whether an executable, or one of its libraries, was linked with another MPI,
 * and the name of its library, into name[bytes]. */
bool vm_ordinary_foreign(const struct vm_elf *elf, char *name, size_t bytes);

/* Whether an executable was linked with musl and is to load our libraries, which
 * its dynamic linker cannot. */
bool vm_ordinary_musl(const struct vm_elf *elf);

/* Makes the dynamic linker take a file for a library that needs no libmpi_abi,
 * and takes the thread-local variables out of a program. */
void vm_ordinary_patch(struct vm_elf *elf);

#endif
