/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folders in which dlopen() looks for a library, for code of a copy, which
 * was loaded from a file without a folder.
 */
#ifndef CORE_IMAGE_SEARCH_H
#define CORE_IMAGE_SEARCH_H

#include "core/object/elf.h"

/*
 * The path of a library that code of `by` asks for, as it has it in DT_RPATH,
 * LD_LIBRARY_PATH, and DT_RUNPATH; a name with a slash is a path already.
 * NULL: it is in none, only perhaps in the system's folders, or there is no
 * memory.  free() it.
 */
char *vm_image_search(const struct vm_elf *by, const char *name);

#endif
