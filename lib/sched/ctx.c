/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first frame of a context: the words that vm_ctx_switch() will pop.
 */
#include "sched/ctx.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

/* From low to high addresses, as vm_ctx_switch() of ctx_x86_64.S pushes it. */
struct frame {
	uint32_t mxcsr;
	uint32_t x87;
	uint64_t r15, r14, r13, r12, rbx, rbp;
	uint64_t rip;
	uint64_t pad[2]; /* rsp is a multiple of 16 at vm_ctx_start */
};

static void frame_fill(struct frame *frame, void (*entry)(void *), void *arg)
{
	uint16_t x87;

	__asm__ volatile("stmxcsr %0" : "=m"(frame->mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(x87));
	frame->x87 = x87;
	frame->r12 = (uint64_t)(uintptr_t)entry;
	frame->r13 = (uint64_t)(uintptr_t)arg;
	frame->rip = (uint64_t)(uintptr_t)vm_ctx_start;
}

#elif defined(__aarch64__)

/* From low to high addresses, as vm_ctx_switch() of ctx_aarch64.S stores it. */
struct frame {
	uint64_t x19, x20, x21_29[9], x30;
	uint64_t d8_15[8];
	uint64_t fpcr, pad;
};

static void frame_fill(struct frame *frame, void (*entry)(void *), void *arg)
{
	__asm__ volatile("mrs %0, fpcr" : "=r"(frame->fpcr));
	frame->x19 = (uint64_t)(uintptr_t)entry;
	frame->x20 = (uint64_t)(uintptr_t)arg;
	frame->x30 = (uint64_t)(uintptr_t)vm_ctx_start;
}

#else
#error "vmpi has no context switch for this processor (x86-64 and aarch64 only)"
#endif

void *vm_ctx_make(void *stack, size_t bytes, void (*entry)(void *), void *arg)
{
	uintptr_t top = ((uintptr_t)stack + bytes) & ~(uintptr_t)63;
	struct frame *frame = (struct frame *)top - 1;

	_Static_assert(sizeof(struct frame) % 16 == 0, "stack alignment");
	memset(frame, 0, sizeof(*frame));
	frame_fill(frame, entry, arg);
	return frame;
}
