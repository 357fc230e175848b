/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binding the parts of an ordinary executable to each other.
 *
 * In a process the executable's symbols come first, for all libraries, and it
 * has the only copy of a library's variable that it mentions by address.  The
 * dynamic linker, which takes the copies for libraries, gives them neither; nor
 * does it know that functions of libc with state come from a library of ours
 * (bin/image).  So what it has bound is bound again, by a list that is made
 * once.
 */
#ifndef CORE_IMAGE_BIND_H
#define CORE_IMAGE_BIND_H

#include "core/image/image.h"

struct vm_image_bind;

/* Makes the list, after the shared libraries were loaded.  0, -VMPI_EINVAL or
 * -VMPI_ENOMEM (logged). */
int vm_image_bind_make(struct vm_image *image);
void vm_image_bind_free(struct vm_image_bind *bind);

/* Binds the parts of a copy that has been loaded.  False (errno): its memory
 * cannot be changed. */
bool vm_image_bind(const struct vm_image_copy *copy);

#endif
