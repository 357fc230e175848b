/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thread-local state of shared libraries that ranks must not share.
 */
#ifndef CORE_IMAGE_LOCAL_H
#define CORE_IMAGE_LOCAL_H

/*
 * Registers the thread-local block of every loaded library that is not libc's
 * or ours with sched/local.h, so that each ULT has its own: libstdc++'s current
 * exceptions, libgomp's team.  0 or -VMPI_ELIMIT (logged).
 */
int vm_image_locals_add(void);

/*
 * Makes cout and its siblings before any rank's constructors run: libstdc++
 * lets the first of several threads make them and does not have the others
 * wait, since it expects one thread at that time.
 */
void vm_image_streams_start(void);

#endif
