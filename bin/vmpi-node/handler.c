/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process's handlers run on a stack of the OS thread's.  A rank's must not:
 * it may wait, be left by siglongjmp(), or end on a stack that other ranks need
 * by then.
 */
#include "handler.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "fatal.h"
#include "node.h"
#include "real.h"

#ifdef VM_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

/*
 * So the kernel's frame, to which a handler returns, is copied to where the
 * kernel would have put it in a process of the rank's own, and the kernel is made
 * to return into the handler instead of what was interrupted.  From then on the
 * handler is ordinary code of the rank's; the copied frame restores the rest.
 *
 * The kernel ends a process that has a fault while its signal is blocked, and
 * says nothing.  What a rank blocks of these, and its handlers do, is kept in
 * the bits of as many signals at the end of the range instead.  The mask is the
 * thread's, and with it that of other ranks while the handler waits: only a task
 * that is in a handler is asked for it.
 */

#ifndef SS_AUTODISARM /* of Linux only */
#define SS_AUTODISARM (1u << 31)
#endif

#define STACK_LEAST 2048 /* as the kernel has it */

static void direct_call(const struct sigaction *action, int signal,
			siginfo_t *info, void *context)
{
	if (action->sa_flags & SA_SIGINFO)
		action->sa_sigaction(signal, info, context);
	else
		action->sa_handler(signal);
}

int handler_mask(int how, const sigset_t *set, sigset_t *old)
{
	return REAL(pthread_sigmask)(how, set, old);
}

#ifdef __SANITIZE_THREAD__ /* which calls ours before they can be called */

bool handler_call(const struct sigaction *action, int signal, siginfo_t *info,
		  void *context)
{
	direct_call(action, signal, info, context);
	return true;
}

bool handler_blocked(int signal, const void *context)
{
	return false;
}

void handler_task_end(void)
{
}

void handler_fork_child(void)
{
}

#else

/* The task whose code the calling thread runs, and whose alternate stack it
 * has; NULL: not a rank's. */
static const struct vm_ult *task_of(void)
{
	return vm_self && node_copy() ? vm_ult_origin(vm_self) : NULL;
}

/* The alternate stack of a task.  Handlers look for it: none is freed, but one
 * whose task has ended becomes another's. */
struct alternate {
	struct alternate *next; /* of the same place */
	_Atomic(const struct vm_ult *) task;
	void *base;
	size_t bytes; /* 0: it is disabled */
};

#define PLACES 256

static _Atomic(struct alternate *) alternates[PLACES];

static _Atomic(struct alternate *) *place_of(const struct vm_ult *task)
{
	return &alternates[(uintptr_t)task / VM_CACHELINE / 7 % PLACES];
}

/* NULL: it has never had one. */
static struct alternate *alternate_find(const struct vm_ult *task)
{
	struct alternate *one = atomic_load(place_of(task));

	while (one && atomic_load(&one->task) != task)
		one = one->next;
	return one;
}

/* NULL: out of memory. */
static struct alternate *alternate_make(const struct vm_ult *task)
{
	_Atomic(struct alternate *) *place = place_of(task);
	struct alternate *one = atomic_load(place), *first;
	const struct vm_ult *none = NULL;

	for (; one; one = one->next, none = NULL)
		if (atomic_compare_exchange_strong(&one->task, &none, task))
			return one;
	one = calloc(1, sizeof(*one));
	if (!one)
		return NULL;
	atomic_init(&one->task, task);
	first = atomic_load(place);
	do
		one->next = first;
	while (!atomic_compare_exchange_weak(place, &first, one));
	return one;
}

void handler_task_end(void)
{
	struct alternate *one = vm_self ? alternate_find(vm_self) : NULL;

	if (!one)
		return;
	one->bytes = 0;
	atomic_store(&one->task, NULL);
}

static struct alternate alternate_of(const struct vm_ult *task)
{
	const struct alternate *one = task ? alternate_find(task) : NULL;

	return one ? *one : (struct alternate){ 0 };
}

static bool is_on(const void *sp, const void *base, size_t bytes)
{
	return (uintptr_t)sp - (uintptr_t)base < bytes;
}

static bool is_on_alternate(const struct alternate *own, const void *sp)
{
	return is_on(sp, own->base, own->bytes);
}

/* A mask as the kernel gets it, or, back, as the rank sees it. */
static sigset_t *translated(sigset_t *to, const sigset_t *from, bool back)
{
	*to = *from;
	for (int i = 0; i < FATALS; i++) {
		int here = back ? SIGRTMAX - i : fatal_signals[i];
		int there = back ? fatal_signals[i] : SIGRTMAX - i;

		if (sigismember(from, here) != 1)
			continue;
		if (!back)
			sigdelset(to, here);
		sigaddset(to, there);
	}
	return to;
}

#if defined(__x86_64__)

#define RED_ZONE 128
#define MARK UINT64_C(0x766d7069736967)
#define DIRECTION_AND_TRAP 0x500 /* of the flags; off when a function begins */

/* What the kernel reads when a handler returns: it begins at the word that the
 * handler returns to. */
struct frame {
	void *restorer;
	ucontext_t context;
	siginfo_t info;
	uint64_t mark; /* MARK, while nothing has been written over it */
};

/* Bytes of the registers for floating point, as the kernel says behind the old
 * ones: struct _fpx_sw_bytes of Linux. */
static size_t registers_bytes(const ucontext_t *context)
{
	const char *old = (const char *)context->uc_mcontext.fpregs;
	uint32_t words[2];

	if (!old)
		return 0;
	memcpy(words, old + 464, sizeof(words));
	return words[0] == 0x46505853 ? words[1] : 512;
}

/* The registers for floating point as a function expects them. */
static void registers_reset(ucontext_t *context)
{
	struct _libc_fpstate *registers = context->uc_mcontext.fpregs;

	if (!registers)
		return;
	registers->cwd = 0x37f;
	registers->swd = 0;
	registers->ftw = 0;
	registers->mxcsr = 0x1f80;
}

/* The signals that the handler blocks, added to what is blocked. */
static void mask_add(sigset_t *mask, const struct sigaction *action, int signal)
{
	sigset_t add, more = action->sa_mask;

	if (!(action->sa_flags & SA_NODEFER))
		sigaddset(&more, signal);
	translated(&add, &more, false);
	for (int i = 1; i < _NSIG; i++)
		if (sigismember(&add, i) == 1)
			sigaddset(mask, i);
}

static const void *context_sp(const ucontext_t *context)
{
	return (const void *)context->uc_mcontext.gregs[REG_RSP];
}

/* Which task has entered a handler last on the thread, and on what frame. */
static _Thread_local struct {
	const struct vm_ult *task;
	const struct frame *frame;
} entered;

/* Whether a task that has been interrupted at sp is in the handler that it
 * entered: that is left by a return, or by siglongjmp(). */
static bool is_inside(const struct vm_ult *task, const void *sp)
{
	const struct alternate own = alternate_of(task);
	const struct frame *frame = entered.frame;
	bool alternate = is_on_alternate(&own, frame);

	return entered.task == task && sp <= (const void *)frame &&
	       is_on_alternate(&own, sp) == alternate &&
	       (alternate ||
		is_on(frame, vm_self->stack.base, vm_self->stack.bytes)) &&
	       frame->mark == MARK;
}

bool handler_blocked(int signal, const void *context)
{
	const struct vm_ult *task = task_of();
	const ucontext_t *at = context;

	for (int i = 0; i < FATALS && task; i++)
		if (fatal_signals[i] == signal)
			return sigismember(&at->uc_sigmask, SIGRTMAX - i) ==
				       1 &&
			       is_inside(task, context_sp(at));
	return false;
}

/* Where a copy of the kernel's frame fits below top; NULL: nowhere. */
static struct frame *frame_copy(uintptr_t bottom, uintptr_t top,
				const ucontext_t *from, const siginfo_t *info)
{
	/* Of the mask the kernel knows 64 signals; what it has behind them is
	 * not the user's context any more. */
	const size_t known = offsetof(ucontext_t, uc_sigmask) + 8;
	size_t bytes = registers_bytes(from);
	uintptr_t registers = (top - bytes) & ~(uintptr_t)63;
	struct frame *frame = (struct frame *)(((registers - sizeof(*frame)) &
						~(uintptr_t)15) -
					       8);

	if (top - bottom < bytes + sizeof(*frame) + 1024)
		return NULL;
	memset(frame, 0, sizeof(*frame));
	memcpy(&frame->restorer, (const char *)from - sizeof(void *),
	       sizeof(void *));
	memcpy(&frame->context, from, known);
	frame->info = *info;
	frame->mark = MARK;
	if (bytes) {
		memcpy((void *)registers, from->uc_mcontext.fpregs, bytes);
		frame->context.uc_mcontext.fpregs = (void *)registers;
	}
	return frame;
}

/* Makes the kernel return into the handler, on the copied frame. */
static void enter(ucontext_t *context, struct frame *frame,
		  const struct sigaction *action, int signal)
{
	greg_t *registers = context->uc_mcontext.gregs;

	registers[REG_RIP] = (greg_t)action->sa_sigaction;
	registers[REG_RSP] = (greg_t)frame;
	registers[REG_RDI] = signal;
	registers[REG_RSI] = (greg_t)&frame->info;
	registers[REG_RDX] = (greg_t)&frame->context;
	registers[REG_RAX] = 0;
	registers[REG_EFL] &= ~(greg_t)DIRECTION_AND_TRAP;
	registers_reset(context);
	mask_add(&context->uc_sigmask, action, signal);
}

bool handler_call(const struct sigaction *action, int signal, siginfo_t *info,
		  void *context)
{
	const struct vm_ult *task = task_of();
	const struct alternate own = alternate_of(task);
	ucontext_t *from = context;
	const void *sp = context_sp(from);
	uintptr_t bottom = 0, top = (uintptr_t)sp - RED_ZONE;
	struct frame *frame = NULL;

	if (is_on_alternate(&own, sp)) {
		bottom = (uintptr_t)own.base;
	} else if (own.bytes && action->sa_flags & SA_ONSTACK) {
		bottom = (uintptr_t)own.base;
		top = bottom + own.bytes;
	} else if (task &&
		   is_on(sp, vm_self->stack.base, vm_self->stack.bytes)) {
		bottom = (uintptr_t)vm_self->stack.base;
	} else if (task && vm_stack_guard_hit(&vm_self->stack, sp)) {
		return false;
	}
	if (bottom &&
	    !is_on(__builtin_frame_address(0), (void *)bottom, top - bottom) &&
	    !RUNNING_ON_VALGRIND)
		frame = frame_copy(bottom, top, from, info);
	if (!frame) {
		/* It is there already; or on a stack of the program's own, or
		 * too small a one. */
		direct_call(action, signal, info, context);
		return true;
	}
	/* The kernel would give it to whichever thread the handler returns on;
	 * these flags it refuses, and keeps what the thread has. */
	frame->context.uc_stack = (stack_t){
		.ss_sp = own.base,
		.ss_flags = SS_ONSTACK | SS_DISABLE,
		.ss_size = own.bytes,
	};
	entered.task = task;
	entered.frame = frame;
	enter(from, frame, action, signal);
	return true;
}

#else

bool handler_blocked(int signal, const void *context)
{
	return false;
}

bool handler_call(const struct sigaction *action, int signal, siginfo_t *info,
		  void *context)
{
	direct_call(action, signal, info, context);
	return true;
}

#endif

static int alternate_set(const struct vm_ult *task, const stack_t *stack)
{
	int mode = stack->ss_flags & ~(int)SS_AUTODISARM;
	struct alternate *own;

	if (mode && mode != SS_ONSTACK && mode != SS_DISABLE)
		errno = EINVAL;
	else if (mode != SS_DISABLE && stack->ss_size < STACK_LEAST)
		errno = ENOMEM;
	else if ((own = alternate_find(task)) || (own = alternate_make(task))) {
		own->base = stack->ss_sp;
		own->bytes = mode == SS_DISABLE ? 0 : stack->ss_size;
		return 0;
	}
	return -1;
}

NODE_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	const struct vm_ult *task = task_of();
	const struct alternate own = alternate_of(task);
	stack_t before = { .ss_flags = SS_DISABLE };

	if (!task)
		return REAL(sigaltstack)(stack, old);
	if (own.bytes)
		before = (stack_t){
			.ss_sp = own.base,
			.ss_size = own.bytes,
			.ss_flags = is_on_alternate(
					    &own, __builtin_frame_address(0)) ?
					    SS_ONSTACK :
					    0,
		};
	if (stack && before.ss_flags == SS_ONSTACK) {
		errno = EPERM;
		return -1;
	}
	if (stack && alternate_set(task, stack))
		return -1;
	if (old)
		*old = before;
	return 0;
}

NODE_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t given, before;
	int error;

	if (!node_copy())
		return handler_mask(how, set, old);
	error = handler_mask(how, set ? translated(&given, set, false) : NULL,
			     &before);
	if (!error && old)
		translated(old, &before, true);
	return error;
}

NODE_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	int error = pthread_sigmask(how, set, old);

	if (error)
		errno = error;
	return error ? -1 : 0;
}

void handler_fork_child(void)
{
	const struct alternate own = alternate_of(task_of());
	stack_t stack = { .ss_sp = own.base, .ss_size = own.bytes };

	if (own.bytes)
		REAL(sigaltstack)(&stack, NULL);
}

#endif
