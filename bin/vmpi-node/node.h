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
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/lock.h"
#include "boot/boot.h"
#include "core/image/image.h"
#include "core/runtime/node.h"
#include "core/rank/rank.h"

/* Written by main() before the ranks start. */
struct node {
	struct vm_image *image;
	struct vm_boot *boot;
	int ranks; /* of this process */
	int argc;  /* of the program */
	char **argv;
	pid_t pid;
	/* In a child made by fork(): the copy whose rank made it.  The child is
	 * no rank, but a process with that rank's variables. */
	struct vm_image_copy *child;
	bool alone;	  /* started without a launcher */
	const char *tied; /* why ranks cannot move, if they are to */
	/* Between the start and the stop of the runtime; guarded by the
	 * lock. */
	bool running;
	struct vm_lock running_lock;
};

extern struct node node;

/* The number in the job of rank `local` of this process. */
static inline int node_number(int local)
{
	int slot = node.boot->rank_first + local;

	return node.boot->numbers ? node.boot->numbers[slot] : slot;
}

/* The copy of the rank that runs here, or whose child this is; or NULL: not
 * called by a rank. */
static inline struct vm_image_copy *node_copy(void)
{
	struct vm_rank *rank = vm_rank_self();

	return rank ? rank->image : node.child;
}

/* Whether the caller is the main thread of a rank. */
static inline bool node_on_main(void)
{
	struct vm_rank *rank = vm_rank_self();

	return rank && rank->image &&
	       vm_ult_origin(vm_self) ==
		       __atomic_load_n(&rank->ult, __ATOMIC_RELAXED);
}

/* Whether this process is the one that joined the job: a child made by vfork()
 * has nothing of its own that could say so.  The system call: libc's getpid()
 * may be interposed by a tool. */
static inline bool node_is_job(void)
{
	return !node.child && syscall(SYS_getpid) == node.pid;
}

#define NODE_EXPORT __attribute__((visibility("default")))

#endif
