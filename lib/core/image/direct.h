/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that nobody watches call the library past its entries.
 */
#ifndef CORE_IMAGE_DIRECT_H
#define CORE_IMAGE_DIRECT_H

#include "core/image/elf.h"

/*
 * Binds what the file, loaded at base, imports of the library's public
 * functions to the functions themselves (core/instrument/entry.h).  Once the dynamic linker
 * has bound it, and only where nobody will watch.
 */
void vm_image_direct(const struct vm_elf *elf, ElfW(Addr) base);

#endif
