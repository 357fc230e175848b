/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries that ranks open and close: dlopen() comes here by way of dlopen.S.
 */
#include <dlfcn.h>

#include "core/image/plugin.h"
#include "node.h"
#include "real.h"

/* What dlopen() is to do. */
struct plugin_answer {
	void *handle;
	void *(*real)(const char *file, int mode); /* go on there; or NULL */
};

struct plugin_answer plugin_open(const char *file, int mode,
				 const void *caller);

struct plugin_answer plugin_open(const char *file, int mode, const void *caller)
{
	struct vm_image_copy *copy = node_copy();
	struct plugin_answer answer = { NULL, NULL };

	if (!copy ||
	    !vm_image_plugin_open(copy, file, mode, caller, &answer.handle))
		answer.real = REAL(dlopen);
	return answer;
}

NODE_EXPORT int dlclose(void *handle)
{
	struct vm_image_copy *copy = node_copy();

	if (copy && vm_image_plugin_close(copy, handle))
		return 0;
	return REAL(dlclose)(handle);
}
