/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node program: libvmpi as a process that runs the copies of an image.
 *
 * This executable contains the whole library and carries its name (SONAME
 * libvmpi.so.0), so the library that programs were linked with is found loaded
 * already.  It comes first in the dynamic linker's search order; what it
 * exports besides the library (interpose.c) replaces functions of libc whose
 * meaning is "of the process" by ones that mean "of the rank".
 */
#ifndef NODE_H
#define NODE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/lock.h"
#include "core/image.h"
#include "core/node.h"
#include "core/rank.h"

struct vm_boot;

/* Written by main() before the ranks start. */
struct node {
	struct vm_image *image;
	struct vm_boot *boot;
	int ranks; /* of this process */
	int first; /* the number in the job of the first of them */
	int argc;  /* of the program */
	char **argv;
	pid_t pid;  /* a child made by fork() is no rank any more */
	bool alone; /* started without a launcher */
	/* Between the start and the stop of the runtime; guarded by the lock. */
	bool running;
	struct vm_lock running_lock;
};

extern struct node node;

/* The copy of the rank that runs here, or NULL: not called by a rank. */
static inline struct vm_image_copy *node_copy(void)
{
	struct vm_rank *rank = vm_rank_self();

	return rank ? rank->image : NULL;
}

#define NODE_EXPORT __attribute__((visibility("default")))

#endif
