/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thread-local state of shared libraries that ranks must not share.
 */
#ifndef CORE_IMAGE_LOCAL_H
#define CORE_IMAGE_LOCAL_H

#include "core/image/lib.h"

/*
 * Registers the thread-local blocks of the program's shared libraries with
 * sched/local.h, so that each ULT has its own: libstdc++'s current exceptions,
 * libgomp's team.  0 or -VMPI_ELIMIT (logged).
 */
int vm_image_locals_add(const struct vm_image_lib *table, size_t count);

/*
 * Makes cout and its siblings before any rank's constructors run: libstdc++
 * lets the first of several threads make them and does not have the others
 * wait, since it expects one thread at that time.
 */
void vm_image_streams_start(void);

#endif
