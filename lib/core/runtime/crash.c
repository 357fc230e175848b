/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node program has a handler of its own, which knows the ranks of its
 * threads.
 */
#include "core/runtime/crash.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "boot/boot.h"
#include "core/rank/rank.h"
#include "core/runtime/child.h"
#include "core/runtime/node.h"
#include "core/runtime/process.h"
#include "core/runtime/where.h"

#define ALTSTACK_BYTES ((size_t)64 << 10)

static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

static void default_set(int signal)
{
	const struct sigaction action = { .sa_handler = SIG_DFL };

	sigaction(signal, &action, NULL);
}

/* A core file is wanted, or a shell to see the signal: it comes again when the
 * handler returns, or is sent again. */
static bool dies_of_signal(void)
{
	struct rlimit core;

	return !vm_node_hooks.boot || vm_node_hooks.boot->processes == 1 ||
	       getrlimit(RLIMIT_CORE, &core) || core.rlim_cur;
}

static void handle(int signal, siginfo_t *info, void *context)
{
	bool raised = info->si_code == SI_TKILL && info->si_pid == getpid();
	int rank = vm_process_rank()->index;
	char text[VM_WHERE_MAX + 96], place[VM_WHERE_MAX];

	default_set(signal);
	if (vm_child() || (info->si_code <= 0 && !raised)) {
		syscall(SYS_tgkill, getpid(), gettid(), signal);
		return;
	}
	if (raised)
		vm_where_say(place, context, true);
	else
		vm_where_fault(place, &rank, context, info->si_addr);
	if (signal == SIGABRT && raised)
		snprintf(text, sizeof(text), "rank %d called abort()%s", rank,
			 place);
	else if (raised)
		snprintf(text, sizeof(text), "rank %d raised SIG%s%s", rank,
			 sigabbrev_np(signal), place);
	else
		snprintf(text, sizeof(text),
			 "rank %d: SIG%s at address 0x%jx%s", rank,
			 sigabbrev_np(signal),
			 (uintmax_t)(uintptr_t)info->si_addr, place);
	if (!dies_of_signal())
		vm_node_die(128 + signal, "%s", text);
	dprintf(STDERR_FILENO, "vmpirun: %s\n", text);
	syscall(SYS_tgkill, getpid(), gettid(), signal);
}

/* For overflows of the stack; one of the program's stays. */
static void stack_give(void)
{
	stack_t stack, now;

	if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_DISABLE))
		return;
	stack = (stack_t){ .ss_size = ALTSTACK_BYTES };
	stack.ss_sp = mmap(NULL, ALTSTACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack.ss_sp != MAP_FAILED)
		sigaltstack(&stack, NULL);
}

void vm_crash_start(void)
{
	struct sigaction before, action = {
		.sa_sigaction = handle,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	stack_give();
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (!sigaction(faults[i], NULL, &before) &&
		    before.sa_handler == SIG_DFL)
			sigaction(faults[i], &action, NULL);
}
