/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries that a rank opens while it runs, by dlopen().
 *
 * Those that would be private had the program been linked with them
 * (lib_rule.h) are loaded anew for each rank, from a patched file of its own,
 * and bound to the program and to its private libraries; so are private
 * libraries that they need.  The others are opened as always, once.
 */
#ifndef CORE_IMAGE_PLUGIN_H
#define CORE_IMAGE_PLUGIN_H

#include <stdbool.h>

#include "core/image/image.h"

/*
 * dlopen() by code at `caller`, for the calling rank.  False: it is to be done
 * as if there were no ranks.  True: *handle is its result; NULL: dlerror() says
 * why.  Runs constructors, so it may switch.
 */
bool vm_image_plugin_open(struct vm_image_copy *copy, const char *file,
			  int mode, const void *caller, void **handle);

/* dlclose() of a handle from there; false: it is not.  May switch. */
bool vm_image_plugin_close(struct vm_image_copy *copy, void *handle);

/* Runs the destructors of those that are still open, at the end of the rank. */
void vm_image_plugins_end(struct vm_image_copy *copy);

#endif
