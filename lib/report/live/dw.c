/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loading libdw.
 */
#include "report/live/dw.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef VM_HAVE_LIBDW

static bool function_find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	*(void **)function = found;
	return found != NULL;
}

const struct vm_dw *vm_dw_load(const char **why)
{
	static struct vm_dw dw;
	static bool loaded;
	void *library;

	if (loaded)
		return &dw;
	library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		*why = "libdw.so.1 of elfutils is not installed";
		return NULL;
	}
	loaded = true;
#define FIND(name) loaded &= function_find(library, #name, &dw.name);
	VM_DW_FUNCTIONS(FIND)
#undef FIND
	*why = "this libdw.so.1 is too old";
	return loaded ? &dw : NULL;
}

#endif
