/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks: disjoint, used again, and each kind of guard notices an overflow.
 */
#include "sched/stack.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sched.h"

#if defined(VM_HAVE_VALGRIND)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_DEFINED(address, bytes) ((void)0)
#endif

#define MANY 200

static struct vm_stack stacks[MANY];

static int compare(const void *a, const void *b)
{
	const struct vm_stack *left = a, *right = b;

	return left->base < right->base ? -1 : left->base > right->base;
}

static void test_pool(enum vm_guard guard)
{
	struct vm_stack_pool pool;
	struct vm_stack again;
	int failed = 0, close = 0, kinds = 0;

	vm_stack_pool_init(&pool, 100000, 0);
	pool.guard = guard;
	is_int((intmax_t)pool.bytes % 4096, 0, "stacks are whole pages");
	for (int i = 0; i < MANY; i++) {
		failed += vm_stack_get(&pool, &stacks[i]) != 0;
		stacks[i].base[16] = 1;
		stacks[i].base[stacks[i].bytes - 1] = 1;
		kinds += stacks[i].guard == guard;
	}
	is_int(failed, 0, "%d stacks with guard %s", MANY,
	       vm_guard_name(guard));
	is_int(kinds, MANY, "all have that guard");
	qsort(stacks, MANY, sizeof(stacks[0]), compare);
	for (int i = 1; i < MANY; i++)
		close += stacks[i].base - stacks[i - 1].base <
			 (ptrdiff_t)(pool.bytes + VM_STACK_GUARD_BYTES);
	is_int(close, 0, "with room for a guard between any two");
	memset(stacks[7].base + 64, 1, stacks[7].bytes - 64);
	vm_stack_put(&pool, &stacks[7]);
	is_int(vm_stack_get(&pool, &again), 0, "one is given back and taken");
	ok(again.base == stacks[7].base && again.bytes == stacks[7].bytes &&
		   again.guard == guard,
	   "it is the same");
	/* For valgrind what a ULT has left is undefined. */
	VALGRIND_MAKE_MEM_DEFINED(&again.base[8192], 1);
	is_int(again.base[8192], 0, "what was used deeply is fresh");
	ok(!vm_stack_overrun(&again), "and not overrun");
	again.base[8192] = 1;
	vm_stack_put(&pool, &again);
	is_int(vm_stack_get(&pool, &again), 0, "it is used again");
	VALGRIND_MAKE_MEM_DEFINED(&again.base[8192], 1);
	is_int(again.base[8192], 1,
	       "... and costs no call when it was not deep");
	is_int((intmax_t)pool.made, MANY, "no stack more was made");
	vm_stack_pool_fini(&pool);
}

/* A page's worth of overflow is the least, a whole guard the most. */
static void test_guard(void)
{
	struct vm_stack_pool pool, other;
	struct vm_stack stack, far;

	vm_stack_pool_init(&pool, 65536, 0);
	vm_stack_pool_init(&other, 65536, 0);
	if (vm_stack_get(&pool, &stacks[0]) || vm_stack_get(&pool, &stack) ||
	    vm_stack_get(&other, &far))
		bail("no stack");
	ok(!vm_stack_guard_hit(&stack, stack.base) &&
		   vm_stack_guard_hit(&stack, stack.base - 1),
	   "the guard begins right below the stack");
	ok(vm_stack_guard_hit(&stack, stack.base - VM_STACK_GUARD_BYTES) &&
		   !vm_stack_guard_hit(&stack,
				       stack.base - VM_STACK_GUARD_BYTES - 1),
	   "and is as long as a process's");
	ok(!vm_stack_left(&pool, &stack, stack.base) &&
		   !vm_stack_left(&pool, &stack, stack.base + stack.bytes),
	   "a stack pointer on the stack is sound");
	ok(vm_stack_left(&pool, &stack, stack.base - 100) &&
		   vm_stack_left(NULL, &stack, stack.base - 100),
	   "one in the guard is not");
	ok(vm_stack_left(&pool, &stack, stacks[0].base + 100),
	   "nor one on a lower stack");
	ok(!vm_stack_left(&pool, &stack, far.base) &&
		   !vm_stack_left(&pool, &stack, &pool),
	   "one that is elsewhere may be the program's own");
	vm_stack_pool_fini(&other);
	vm_stack_pool_fini(&pool);
}

/* The size for so many ranks, in a process with these limits in KiB. */
static size_t size_of(int ranks, rlim_t stack, rlim_t space)
{
	struct rlimit limit;
	size_t *size = mmap(NULL, sizeof(*size), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t result;
	pid_t pid;

	if (size == MAP_FAILED)
		bail("no memory");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		getrlimit(RLIMIT_STACK, &limit);
		limit.rlim_cur = stack == RLIM_INFINITY ? stack : stack << 10;
		if (setrlimit(RLIMIT_STACK, &limit))
			_exit(1);
		getrlimit(RLIMIT_AS, &limit);
		limit.rlim_cur = space == RLIM_INFINITY ? space : space << 10;
		if (setrlimit(RLIMIT_AS, &limit))
			_exit(1);
		*size = vm_stack_bytes_of(ranks);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	result = *size;
	munmap(size, sizeof(*size));
	return result >> 10;
}

#define MIB 1024

static void test_size(void)
{
	static const struct {
		const char *name;
		int ranks;
		rlim_t stack, space;
		size_t kib;
	} sizes[] = {
		{ "few ranks: as a process", 4, 8 * MIB, RLIM_INFINITY,
		  8 * MIB },
		{ "1024 ranks too", 1024, 8 * MIB, RLIM_INFINITY, 8 * MIB },
		{ "2048 have half", 2048, 8 * MIB, RLIM_INFINITY, 4 * MIB },
		{ "the most ranks have 1 MiB", 30000, 8 * MIB, RLIM_INFINITY,
		  MIB },
		{ "a smaller limit holds", 30000, 256, RLIM_INFINITY, 256 },
		{ "but not below what calls need", 1, 16, RLIM_INFINITY, 64 },
		{ "little address space is shared, too", 64, 8 * MIB,
		  1024 * MIB, 4 * MIB },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		is_int((intmax_t)size_of(sizes[i].ranks, sizes[i].stack,
					 sizes[i].space),
		       (intmax_t)sizes[i].kib, "%s", sizes[i].name);
}

static void test_bound(void)
{
	struct vm_stack_pool pool;
	int kinds[3] = { 0 };

	vm_stack_pool_init(&pool, 16384, 20);
	is_int(pool.guard, VM_GUARD_MPROTECT, "few guards are mappings");
	pool.guards_max = 10;
	pool.marks = false;
	for (int i = 0; i < 20; i++) {
		if (vm_stack_get(&pool, &stacks[i]))
			bail("no stack");
		kinds[stacks[i].guard]++;
	}
	is_int(kinds[VM_GUARD_MPROTECT], 10, "guards by mapping are bounded");
	is_int(kinds[VM_GUARD_CANARY], 10, "the others get a canary");
	ok(!vm_stack_overrun(&stacks[15]), "which is whole");
	memset(stacks[15].base, 0, 8);
	ok(vm_stack_overrun(&stacks[15]), "until somebody writes there");
	vm_stack_pool_fini(&pool);
}

/* In the child: the stack that shall overflow. */
static struct vm_stack victim;

static void segv(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	_exit(vm_stack_guard_hit(&victim, info->si_addr) ? 42 : 43);
}

static void thread_start(struct vm_worker *worker)
{
	static char altstack[65536];
	stack_t stack = { .ss_sp = altstack, .ss_size = sizeof(altstack) };

	(void)worker;
	sigaltstack(&stack, NULL);
}

static volatile int depth_max = 100000;

/* Goes down the stack; the volatile array keeps it from being a loop. */
static int descend(int depth)
{
	volatile char frame[512];

	frame[0] = (char)depth;
	if (depth >= depth_max)
		return frame[0];
	return descend(depth + 1) + frame[0];
}

static int overflow(void *arg)
{
	(void)arg;
	victim = vm_self->stack;
	if (victim.guard == VM_GUARD_CANARY) {
		memset(victim.base, 0, 8);
		return 0;
	}
	return descend(0);
}

static _Noreturn void child(enum vm_guard guard)
{
	struct sigaction action = { .sa_sigaction = segv,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK };
	static const struct rlimit none;

	setrlimit(RLIMIT_CORE, &none);
	if (!freopen("/dev/null", "w", stderr))
		_exit(9);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	vm_topo_init();
	vm_stack_pool_init(&sched_stacks, 65536, 0);
	sched_stacks.guard = guard;
	if (vm_sched_init(1))
		_exit(9);
	vm_sched.hooks.thread_start = thread_start;
	if (vm_sched_start() || !vm_worker_adopt(NULL))
		_exit(9);
	sched_call(overflow, NULL);
	_exit(0);
}

static void test_overflow(enum vm_guard guard)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		child(guard);
	waitpid(pid, &status, 0);
	if (guard == VM_GUARD_CANARY)
		ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
		   "guard %s ends the process when the task ends",
		   vm_guard_name(guard));
	else
		ok(WIFEXITED(status) && WEXITSTATUS(status) == 42,
		   "guard %s faults below the stack that overflows",
		   vm_guard_name(guard));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 42)
		diag("wait status 0x%x", status);
}

int main(void)
{
	enum vm_guard best = vm_guard_probe();

	plan(12 * (VM_GUARD_CANARY - (int)best + 1) + 18);
	diag("this kernel's guard is %s", vm_guard_name(best));
	for (int guard = best; guard <= VM_GUARD_CANARY; guard++)
		test_pool((enum vm_guard)guard);
	test_guard();
	test_size();
	test_bound();
	for (int guard = best; guard <= VM_GUARD_CANARY; guard++)
		test_overflow((enum vm_guard)guard);
	return done_testing();
}
