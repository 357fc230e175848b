/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports stacks and switches to the address sanitizer, the thread sanitizer
 * and valgrind.  Each function is empty in builds without the tool.
 */
#ifndef SCHED_SANITIZE_H
#define SCHED_SANITIZE_H

#include <stddef.h>

#include "sched/ult.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(VM_HAVE_VALGRIND)
#include <valgrind/valgrind.h>
#endif

/* Reports that a ULT with a stack begins, or ends (off its stack). */
static inline void vm_sanitize_new(struct vm_ult *ult)
{
#if defined(__SANITIZE_THREAD__)
	ult->fiber = __tsan_create_fiber(0);
#endif
#if defined(VM_HAVE_VALGRIND)
	ult->valgrind = VALGRIND_STACK_REGISTER(
		ult->stack.base, ult->stack.base + ult->stack.bytes);
#endif
	(void)ult;
}

static inline void vm_sanitize_free(struct vm_ult *ult)
{
#if defined(__SANITIZE_THREAD__)
	__tsan_destroy_fiber(ult->fiber);
#endif
#if defined(VM_HAVE_VALGRIND)
	VALGRIND_STACK_DEREGISTER(ult->valgrind);
#endif
	(void)ult;
}

/* Reports that an OS thread becomes a ULT. */
static inline void vm_sanitize_thread(struct vm_ult *ult)
{
#if defined(__SANITIZE_ADDRESS__)
	vm_stack_of_thread(&ult->stack);
#endif
#if defined(__SANITIZE_THREAD__)
	ult->fiber = __tsan_get_current_fiber();
#endif
	(void)ult;
}

/* Called right before the switch away from a ULT (ends: for good), and right
 * after coming back to it. */
static inline void vm_sanitize_leave(struct vm_ult *from, struct vm_ult *to,
				     bool ends)
{
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_start_switch_fiber(ends ? NULL : &from->fake_stack,
				       to->stack.base, to->stack.bytes);
#endif
#if defined(__SANITIZE_THREAD__)
	__tsan_switch_to_fiber(to->fiber, 0);
#endif
	(void)from;
	(void)to;
	(void)ends;
}

static inline void vm_sanitize_enter(struct vm_ult *self)
{
#if defined(__SANITIZE_ADDRESS__)
	__sanitizer_finish_switch_fiber(self->fake_stack, NULL, NULL);
#endif
	(void)self;
}

#endif
