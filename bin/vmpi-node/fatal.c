/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handler knows which rank runs on its thread, which no launcher of
 * processes could.  It prints one line and ends the process with 128 + signal,
 * or lets the kernel do it when core files are wanted.  A sanitizer's runtime,
 * whose handlers were there before, knows more and goes first.
 */
#include "fatal.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/exit.h"
#include "core/rank/rank.h"
#include "node.h"
#include "output.h"
#include "sched/stack.h"
#include "signals.h"

#define ALTSTACK_BYTES ((size_t)256 << 10)

#define FATALS 5

static const int fatal[FATALS] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

/* The handlers before ours; written before the workers start. */
static struct sigaction earlier[FATALS];

bool fatal_signal(int signal)
{
	for (size_t i = 0; i < FATALS; i++)
		if (fatal[i] == signal)
			return true;
	return false;
}

static uintptr_t context_pc(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
	return (uintptr_t)context->uc_mcontext.pc;
#endif
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
					thread = {
						"a thread of ",
						"ulimit -s, OMP_STACKSIZE or "
						"pthread_attr_setstacksize()",
					};

	if (vm_self->pool == &vm_node->task_stacks)
		return &task;
	return vm_self->pool || vm_self->stands_for ? &rank : &thread;
}

/* One line of /proc/self/maps: whether pc is in it, and of which file. */
static bool map_describe(char *text, size_t bytes, const char *line,
			 uintptr_t pc)
{
	unsigned long begin, end, offset;
	int name = 0;

	if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &begin, &end, &offset,
		   &name) < 3 ||
	    !name || line[name] != '/' || pc < begin || pc >= end)
		return false;
	snprintf(text, bytes, "%s+%#lx", line + name, pc - begin + offset);
	return true;
}

/* In a library, such as that of a policy; with calls of the kernel only, as the
 * heap and locks of the loader may be what is broken. */
static bool library_find(char *text, size_t bytes, uintptr_t pc)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char block[2048], line[512];
	size_t used = 0;
	ssize_t n = 0;
	bool found = false;

	while (fd >= 0 && !found && (n = read(fd, block, sizeof(block))) > 0)
		for (ssize_t i = 0; i < n && !found; i++) {
			line[used] = block[i] == '\n' ? '\0' : block[i];
			used += used < sizeof(line) - 1;
			if (block[i] != '\n')
				continue;
			found = map_describe(text, bytes, line, pc);
			used = 0;
		}
	if (fd >= 0)
		close(fd);
	return found;
}

/* "(pc 0x7f..., ./prog+0x11d9)": what addr2line takes. */
static void place_describe(char *text, size_t bytes, uintptr_t pc)
{
	char library[192];
	size_t offset;

	if (vm_image_find(node.image, (const void *)pc, &offset) >= 0)
		snprintf(text, bytes, "pc %#lx, %s+%#zx", (unsigned long)pc,
			 vm_image_path(node.image), offset);
	else if (library_find(library, sizeof(library), pc))
		snprintf(text, bytes, "pc %#lx, %s", (unsigned long)pc,
			 library);
	else
		snprintf(text, bytes, "pc %#lx", (unsigned long)pc);
}

/* Ends the process; with a core file if those are wanted. */
static _Noreturn void end(int signal, const char *text)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	struct rlimit core;
	char line[640];
	sigset_t set;
	int n;

	output_rescue();
	if (getrlimit(RLIMIT_CORE, &core) || !core.rlim_cur)
		vm_node_die(128 + signal, "%s", text);
	n = snprintf(line, sizeof(line), "vmpirun: %s\n", text);
	if (n > 0)
		syscall(SYS_write, STDERR_FILENO, line, (size_t)n);
	signals_set(signal, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal);
	vm_exit_keep();
	raise(signal);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	vm_exit_now(128 + signal);
}

/* Those of sanitizers print a report and end the process, by way of the line
 * about the rank (sanitizer.c). */
static void earlier_call(int signal, siginfo_t *info, void *context)
{
	const struct sigaction *action = earlier;

	while (fatal[action - earlier] != signal)
		action++;
	if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN)
		return;
	if (action->sa_flags & SA_SIGINFO)
		action->sa_sigaction(signal, info, context);
	else
		action->sa_handler(signal);
}

/* "rank 3", or, if none runs here, the process as vmpirun calls it. */
static void who_describe(char *text, size_t bytes, const struct vm_rank *rank)
{
	if (rank)
		snprintf(text, bytes, "rank %d", rank->index);
	else if (node.boot && node.boot->processes > 1)
		snprintf(text, bytes, "node %d (pid %d)", node.boot->process,
			 (int)node.pid);
	else
		snprintf(text, bytes, "the node process");
}

static void handle(int signal, siginfo_t *info, void *context)
{
	const struct vm_rank *rank = vm_rank_self();
	bool overflow = rank && overflowed(signal, info, context);
	char text[512], place[256], who[64];
	bool sent = info->si_code <= 0 && info->si_pid != node.pid;

	if (signals_call(signal, info, context))
		return;
	/* A child made by fork() dies of its own signal. */
	if (node.child)
		signals_default(signal);
	if (!overflow)
		earlier_call(signal, info, context);
	place_describe(place, sizeof(place), context_pc(context));
	who_describe(who, sizeof(who), rank);
	if (signal == SIGABRT && !sent)
		snprintf(text, sizeof(text), "%s called abort()", who);
	else if (info->si_code <= 0)
		snprintf(text, sizeof(text), "%s was sent SIG%s by process %d",
			 who, sigabbrev_np(signal), (int)info->si_pid);
	else if (overflow)
		snprintf(text, sizeof(text),
			 "%s%s overflowed its stack of %zu KiB; raise it with "
			 "%s (%s)",
			 stack_owner()->owner, who, vm_self->stack.bytes / 1024,
			 stack_owner()->remedy, place);
	else
		snprintf(text, sizeof(text), "%s: SIG%s at address 0x%jx (%s)",
			 who, sigabbrev_np(signal),
			 (uintmax_t)(uintptr_t)info->si_addr, place);
	end(signal, text);
}

void fatal_start(void)
{
	struct sigaction action = {
		.sa_sigaction = handle,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	for (size_t i = 0; i < FATALS; i++)
		signals_set(fatal[i], &action, &earlier[i]);
}

void *fatal_thread_start(void)
{
	stack_t stack = { .ss_size = ALTSTACK_BYTES };

	stack.ss_sp = mmap(NULL, ALTSTACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	/* Without it a stack overflow ends the process unexplained. */
	if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL))
		return NULL;
	return stack.ss_sp;
}

void fatal_thread_end(void *stack)
{
	stack_t none = { .ss_flags = SS_DISABLE };

	if (!stack)
		return;
	sigaltstack(&none, NULL);
	munmap(stack, ALTSTACK_BYTES);
}
