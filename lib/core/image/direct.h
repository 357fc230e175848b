/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binding of images that are not observed: their calls bypass the library's
 * entries.
 */
#ifndef CORE_IMAGE_DIRECT_H
#define CORE_IMAGE_DIRECT_H

#include "core/image/elf.h"

/*
 * Binds the file's imports of public functions, loaded at base, to the
 * functions themselves (core/instrument/entry.h).  Call after the dynamic
 * linker has bound it, and only where its calls will not be observed.
 */
void vm_image_direct(const struct vm_elf *elf, ElfW(Addr) base);

#endif
