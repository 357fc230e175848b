/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The code of copies, mapped from the program's own file.
 *
 * Copies are loaded from a file in memory, whose name says nothing to
 * profilers.  What is read-only and the same in both files is mapped again from
 * the program's: then perf finds its symbols, and all copies and processes
 * share the pages that the system has of that file anyway.
 */
#ifndef CORE_IMAGE_TEXT_H
#define CORE_IMAGE_TEXT_H

#include "core/object/elf.h"

/* Opens the file of a view that has been patched, with a lease (keep.h).  -1:
 * its code has to stay where it is, because it differs from what is in the file,
 * or might later. */
int vm_image_text_open(const struct vm_elf *elf, bool *leased);

/* Maps the code of a copy at base.  If that fails it stays as it is. */
void vm_image_text_map(const struct vm_elf *elf, ElfW(Addr) base, int fd);

#endif
