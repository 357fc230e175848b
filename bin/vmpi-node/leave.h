/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of a rank: it lives while one of them does.
 */
#ifndef LEAVE_H
#define LEAVE_H

#include "core/image/image.h"

/* The rank begins, with its main thread. */
void leave_begin(struct vm_image_copy *copy);

/* It creates another thread; that one ends, or has not been created.  Any
 * thread. */
void leave_created(struct vm_image_copy *copy);
void leave_ended(struct vm_image_copy *copy);

#endif
