/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pthread_exit() of a task.  The main thread of a rank leaves it to the rank's
 * other threads: the rank ends when all of them have ended.  The OS thread that
 * runs it is a worker, which goes on with other ranks.
 */
#include "leave.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "core/instrument/overlap_events.h"
#include "core/rank/wait.h"
#include "rank.h"
#include "real.h"

void leave_begin(struct vm_image_copy *copy)
{
	atomic_store_explicit(&copy->threads, 1, memory_order_relaxed);
}

void leave_created(struct vm_image_copy *copy)
{
	atomic_fetch_add_explicit(&copy->threads, 1, memory_order_relaxed);
}

/* Whether it was the last one. */
static bool gone(struct vm_image_copy *copy)
{
	return atomic_fetch_sub_explicit(&copy->threads, 1,
					 memory_order_acq_rel) == 1;
}

void leave_ended(struct vm_image_copy *copy)
{
	if (node.child)
		return;
	/* Pairs with the subtraction in main_leave(). */
	if (gone(copy))
		vm_ult_wake(copy->main);
}

/* What pthread_cleanup_push() has left is on the stack of the main thread;
 * libc would look for it, and mix those of several ranks, in the OS thread. */
NODE_EXPORT void __pthread_register_cancel(__pthread_unwind_buf_t *cleanup)
{
	struct vm_image_copy *copy = node_copy();

	if (!node_on_main()) {
		REAL(__pthread_register_cancel)(cleanup);
		return;
	}
	cleanup->__pad[0] = copy->cleanups;
	copy->cleanups = cleanup;
}

NODE_EXPORT void __pthread_unregister_cancel(__pthread_unwind_buf_t *cleanup)
{
	if (node_on_main())
		node_copy()->cleanups = cleanup->__pad[0];
	else
		REAL(__pthread_unregister_cancel)(cleanup);
}

/* Goes to the latest cleanup handler, which comes back by
 * __pthread_unwind_next(). */
static void cleanup_run(struct vm_image_copy *copy)
{
	__pthread_unwind_buf_t *cleanup = copy->cleanups;
	jmp_buf target; /* the cleanup has its begin only */

	if (!cleanup)
		return;
	copy->cleanups = cleanup->__pad[0];
	memcpy(target, cleanup->__cancel_jmp_buf,
	       sizeof(cleanup->__cancel_jmp_buf));
	longjmp(target, 1);
}

static _Noreturn void main_leave(struct vm_image_copy *copy)
{
	cleanup_run(copy);
	copy->main = vm_self;
	/* Pairs with the subtraction in leave_ended(). */
	if (!gone(copy)) {
		struct vm_rank *rank = vm_wait_begin(VM_EXPORT_OTHER);

		vm_overlap_events_block_begin();
		vm_ult_suspend();
		vm_overlap_events_block_end();
		vm_wait_end(rank);
	}
	rank_end(0, true);
	__builtin_unreachable();
}

NODE_EXPORT _Noreturn void pthread_exit(void *result)
{
	if (node_on_main() && !vm_self->stands_for)
		main_leave(node_copy());
	/* rank.c: the threads of OpenMP, which wait for it, never end. */
	if (node_copy() && node_copy()->thread && node_on_main())
		vm_node_abort(
			1,
			"rank %d: the main thread of a program with OpenMP "
			"and thread-local variables called pthread_exit(); "
			"it ends by returning, or build it with vmpicc",
			vm_rank_self()->index);
	if (node_on_task())
		vm_node_abort(1,
			      "rank %d: a task that vmpi_spawn() made called "
			      "pthread_exit(); it ends by returning",
			      vm_rank_self()->index);
	/* The first thread of a child: libc would run all ranks' handlers. */
	if (node.child && gettid() == getpid())
		exit(0);
	REAL(pthread_exit)(result);
	__builtin_unreachable();
}

NODE_EXPORT _Noreturn void
__pthread_unwind_next(__pthread_unwind_buf_t *cleanup)
{
	if (node_on_main())
		main_leave(node_copy());
	REAL(__pthread_unwind_next)(cleanup);
	__builtin_unreachable();
}

NODE_EXPORT _Noreturn void thrd_exit(int result)
{
	pthread_exit((void *)(intptr_t)result);
}
