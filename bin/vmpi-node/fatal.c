/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handler knows which rank runs on its thread, which no launcher of
 * processes could.  It prints one line and ends the process with 128 + signal,
 * or lets the kernel do it when core files are wanted.  A sanitizer's runtime,
 * whose handlers were there before, knows more and goes first.
 */
#include "fatal.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/last_word.h"
#include "base/standard.h"
#include "boot/boot.h"
#include "core/rank/rank.h"
#include "guard.h"
#include "introspect/export/export.h"
#include "node.h"
#include "output.h"
#include "real.h"
#include "sched/stack.h"
#include "signals.h"
#include "where.h"

#define ALTSTACK_BYTES ((size_t)256 << 10)

#define TEXT_MAX (320 + WHERE_MAX)

const int fatal_signals[FATALS] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

/* The handlers before ours; written before the workers start. */
static struct sigaction earlier[FATALS];

bool fatal_signal(int signal)
{
	for (size_t i = 0; i < FATALS; i++)
		if (fatal_signals[i] == signal)
			return true;
	return false;
}

static const void *context_sp(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (const void *)context->uc_mcontext.gregs[REG_RSP];
#else
	return (const void *)context->uc_mcontext.sp;
#endif
}

/* Whether a fault shows that the rank's stack has overflowed: what it accessed
 * lies in the guard, or its frame reaches beyond it. */
static bool overflowed(int signal, const siginfo_t *info,
		       const ucontext_t *context)
{
	if ((signal != SIGSEGV && signal != SIGBUS) || info->si_code <= 0)
		return false;
	return vm_stack_guard_hit(&vm_self->stack, info->si_addr) ||
	       vm_stack_left(vm_self->pool, &vm_self->stack,
			     context_sp(context));
}

/* Whose stack this is, and what makes it larger. */
static const struct stack_owner {
	const char *owner, *remedy;
} * stack_owner(void)
{
	static const struct stack_owner rank = { "", "--stack SIZE" },
					task = {
						"a task of ",
						"sched_task_stack_bytes",
					},
					sized = {
						"a task of ",
						"stack_bytes of "
						"vmpi_spawn_with()",
					},
					thread = {
						"a thread of ",
						"ulimit -s, OMP_STACKSIZE or "
						"pthread_attr_setstacksize()",
					};

	if (vm_self->pool == &vm_node->task_stacks)
		return &task;
	if (vm_self->pool && vm_self->pool != &vm_node->rank_stacks)
		return &sized;
	return vm_self->pool || vm_self->stands_for ? &rank : &thread;
}

/* Those of sanitizers print a report and end the process, by way of the line
 * about the rank (sanitizer.c). */
static void earlier_call(int signal, siginfo_t *info, void *context)
{
	const struct sigaction *action = earlier;

	while (fatal_signals[action - earlier] != signal)
		action++;
	if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN)
		return;
	if (action->sa_flags & SA_SIGINFO)
		action->sa_sigaction(signal, info, context);
	else
		action->sa_handler(signal);
}

/* "rank 3", or, if none runs here, the process as vmpirun calls it. */
static void who_describe(char *text, size_t bytes, int rank)
{
	if (rank >= 0)
		snprintf(text, bytes, "rank %d", rank);
	else if (node.boot && node.boot->processes > 1)
		snprintf(text, bytes, "node %d (pid %d)", node.boot->process,
			 (int)node.pid);
	else
		snprintf(text, bytes, "the node process");
}

/* By the calling thread itself. */
static bool is_raised(const siginfo_t *info)
{
	return info->si_code == SI_TKILL && info->si_pid == node.pid;
}

/* By another process. */
static bool is_sent(const siginfo_t *info)
{
	return info->si_code <= 0 && !is_raised(info);
}

/* Such a signal is for the process with all its ranks, to whichever of them it
 * came. */
static void sent_describe(char text[TEXT_MAX], const char *name, int sender)
{
	int first = vm_image_copy(node.image, 0)->number;
	int last = vm_image_copy(node.image, node.ranks - 1)->number;
	char ranks[64];

	if (node.ranks == 1)
		snprintf(ranks, sizeof(ranks), "rank %d", first);
	else
		snprintf(ranks, sizeof(ranks), "ranks %d to %d", first, last);
	snprintf(text, TEXT_MAX,
		 "the process of %s (pid %d) was sent SIG%s from outside, by "
		 "process %d%s",
		 ranks, (int)node.pid, name, sender,
		 sender ? "" : ", which cannot be seen from here");
}

/* What is reported: in the handler of the thread that reports, and of others that
 * it calls when its report fails. */
static struct {
	int signal;
	const siginfo_t *info;
	const void *context;
	bool overflow;
	int rank; /* that has it, or whose buffer is at fault; -1: none */
} fault;

/* What has happened, in words, at a place. */
static void text_make(char text[TEXT_MAX], const char *place)
{
	const char *name = sigabbrev_np(fault.signal);
	char who[64];

	who_describe(who, sizeof(who), fault.rank);
	if (fault.signal == SIGABRT && is_raised(fault.info))
		snprintf(text, TEXT_MAX, "%s called abort()%s", who, place);
	else if (is_raised(fault.info))
		snprintf(text, TEXT_MAX, "%s raised SIG%s%s", who, name, place);
	else if (is_sent(fault.info))
		sent_describe(text, name, (int)fault.info->si_pid);
	else if (fault.overflow)
		snprintf(text, TEXT_MAX,
			 "%s%s overflowed its stack of %zu KiB%s; raise it "
			 "with %s",
			 stack_owner()->owner, who, vm_self->stack.bytes / 1024,
			 place, stack_owner()->remedy);
	else
		snprintf(text, TEXT_MAX, "%s: SIG%s at address 0x%jx%s", who,
			 name, (uintmax_t)(uintptr_t)fault.info->si_addr,
			 place);
}

static _Noreturn void address_say(void)
{
	char text[TEXT_MAX], place[WHERE_MAX];

	where_address(place, fault.context);
	text_make(text, place);
	output_rescue();
	guard_end(fault.signal, text);
}

/* Where that was; an access that failed may be another rank's. */
static bool place_find(char place[WHERE_MAX])
{
	if (fault.rank >= 0 && !fault.overflow && fault.info->si_code > 0)
		return where_fault(place, &fault.rank, fault.context,
				   fault.info->si_addr);
	return where_describe(place, fault.context, is_raised(fault.info));
}

static void handle(int signal, siginfo_t *info, void *context)
{
	char text[TEXT_MAX], place[WHERE_MAX];
	bool overflow;

	if (!guard_enter(signal, info))
		return;
	if (signals_call(signal, info, context)) {
		guard_leave();
		return;
	}
	/* A child made by fork() dies of its own signal. */
	if (node.child)
		signals_default(signal);
	overflow = vm_rank_self() && overflowed(signal, info, context);
	if (!overflow && !is_sent(info))
		earlier_call(signal, info, context);
	guard_begin(signal, address_say);
	fault.signal = signal;
	fault.info = info;
	fault.context = context;
	fault.overflow = overflow;
	fault.rank = vm_rank_self() ? vm_rank_self()->index : -1;
	where_pc(place, context);
	text_make(text, place);
	guard_certain(text);
	if (!place_find(place))
		address_say();
	text_make(text, place);
	output_rescue();
	guard_end(signal, text);
}

/* Ends the job for a reason that nobody wants to read. */
static _Noreturn void quiet_end(int code)
{
	vm_export_died();
	if (vm_last_word_take()) {
		vm_boot_abort(node.boot, code, "nobody reads", true);
		vm_last_word_give();
	}
	vm_exit_now(code);
}

void fatal_raised(int signal, void *context)
{
	const char *how = signal == SIGPIPE || signal == SIGXFSZ ?
				  "was ended by" :
				  "raised";
	char text[TEXT_MAX], place[WHERE_MAX];

	if (signal == SIGPIPE && vm_standard_unread())
		quiet_end(128 + SIGPIPE);
	guard_begin(signal, NULL);
	snprintf(text, sizeof(text), "rank %d %s SIG%s", vm_rank_self()->index,
		 how, sigabbrev_np(signal));
	guard_certain(text);
	if (!where_describe(place, context, true))
		where_address(place, context);
	snprintf(text, sizeof(text), "rank %d %s SIG%s%s",
		 vm_rank_self()->index, how, sigabbrev_np(signal), place);
	output_rescue();
	guard_end(signal, text);
}

void fatal_start(void)
{
	struct sigaction action = {
		.sa_sigaction = handle,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART,
	};

	for (size_t i = 0; i < FATALS; i++)
		signals_set(fatal_signals[i], &action, &earlier[i]);
}

void *fatal_thread_start(void)
{
	stack_t stack = { .ss_size = ALTSTACK_BYTES };

	stack.ss_sp = mmap(NULL, ALTSTACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	/* Without it a stack overflow ends the process unexplained. */
	if (stack.ss_sp == MAP_FAILED || REAL(sigaltstack)(&stack, NULL))
		return NULL;
	return stack.ss_sp;
}

void fatal_thread_end(void *stack)
{
	stack_t none = { .ss_flags = SS_DISABLE };

	if (!stack)
		return;
	REAL(sigaltstack)(&none, NULL);
	munmap(stack, ALTSTACK_BYTES);
}
