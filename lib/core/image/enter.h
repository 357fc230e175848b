/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main function of an ordinary executable, which only its entry code knows.
 */
#ifndef CORE_IMAGE_ENTER_H
#define CORE_IMAGE_ENTER_H

#include "core/image/image.h"

/*
 * Runs the entry code of the calling rank's copy on the caller's stack, as the
 * kernel starts a process.  It calls main, and then exit().  Returns only
 * -VMPI_ENOMEM.
 */
int vm_image_enter(struct vm_image_copy *copy, int argc, char **argv,
		   char **envp);

/* Functions of libc that copies are bound to: bind.c puts them there by name.
 * The function of a name, or 0. */
uintptr_t vm_image_enter_function(const char *name);

#endif
