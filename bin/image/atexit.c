/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atexit with the handle of this program, so that the handlers of one rank can
 * be run.  libc's, linked into every program, does the same; but some libraries
 * bring one that registers for the whole process (the thread sanitizer).
 */
#include <stdlib.h>

extern void *__dso_handle __attribute__((visibility("hidden")));
extern int __cxa_atexit(void (*run)(void *), void *arg, void *dso_handle);

int atexit(void (*run)(void))
{
	/* Called with an argument that it ignores: fine in every ABI we
	 * support. */
	return __cxa_atexit((void (*)(void *))run, NULL, &__dso_handle);
}
