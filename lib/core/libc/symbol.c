/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A function of libc for those parts of programs that stand in for others
 * (bin/image): a program's own of that name would be found first.  In a process
 * with images the node program and libc are all that is looked through here.
 */
#include <dlfcn.h>

#include "base/log.h"
#include "vmpi.h"

/* Declared in bin/image/image.h. */
VMPI_API void *vmpi_libc(const char *name);

void *vmpi_libc(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found)
		vm_panic("the C library has no %s", name);
	return found;
}
