/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places where an image keeps the addresses of functions.  Those of images that
 * are not observed are changed, so that their calls bypass the library's
 * entries.
 */
#ifndef CORE_IMAGE_DIRECT_H
#define CORE_IMAGE_DIRECT_H

#include "core/object/elf.h"

/*
 * Binds the file's imports of public functions, loaded at base, to the
 * functions themselves (core/instrument/entry.h).  Call after the dynamic
 * linker has bound it, and only where its calls will not be observed.
 */
void vm_image_direct(const struct vm_elf *elf, ElfW(Addr) base);

/* Calls each for every place in the file where the address of a function is
 * kept that other objects may define. */
void vm_image_imports(const struct vm_elf *elf,
		      void (*each)(const char *name, ElfW(Addr) place,
				   void *arg),
		      void *arg);

/* Sets such a place of the file, which is loaded at base.  false: its pages
 * cannot be made writable (errno). */
bool vm_image_slot_set(const struct vm_elf *elf, ElfW(Addr) base,
		       ElfW(Addr) place, ElfW(Addr) value);

/* Makes the pages that the dynamic linker has protected writable, or protects
 * them again.  False where that is forbidden. */
bool vm_image_relro(const struct vm_elf *elf, ElfW(Addr) base, bool writable);

#endif
