/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a report reads may be what is broken: the program's file, the tables for
 * unwinding, the heap, whose lock the thread itself may hold.  A fault is seen by
 * the depth of handlers on the thread.  A clock, which has a signal of these
 * handlers so that nothing of the process is changed for it, sees the rest: a
 * report that computes for too long, or that only sleeps.  Both are counted in
 * what the thread has got of its processor, not in what others took.
 */
#include "guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/last_word.h"
#include "core/runtime/node.h"
#include "fatal.h"
#include "handler.h"
#include "introspect/export/export.h"
#include "signals.h"
#include "where.h"

#define TICK_NS 100000000
#define COMPUTES_MOST_NS UINT64_C(800000000)
#define SLEEP_NS UINT64_C(1000000) /* what a tick in which it sleeps takes */
/* Ticks: of waiting for vmpi-where, which takes two seconds at most; of the second
 * way; of telling others. */
#define SLEEPS_MOST 25
#define SLEEPS_MOST_SECOND 5
#define SLEEPS_MOST_END 30

static struct {
	_Atomic pid_t thread; /* 0: nothing has happened */
	int signal;	      /* of the fault that it is about */
	char text[320 + WHERE_MAX];
	void (*second)(void);
	int failures; /* of the report */
	int sleeps_most;
	uint64_t begin_ns, last_ns; /* of the thread's own time */
	long switches;
	int sleeps;
} guard;

static _Thread_local volatile sig_atomic_t depth;

static uint64_t own_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool is_mine(void)
{
	return atomic_load(&guard.thread) == gettid();
}

/* Whether the report takes too long. */
static bool is_late(void)
{
	struct rusage usage = { 0 };
	uint64_t now = own_ns();
	bool sleeps;

	getrusage(RUSAGE_THREAD, &usage);
	sleeps = usage.ru_nvcsw > guard.switches &&
		 now - guard.last_ns < SLEEP_NS;
	guard.sleeps = sleeps ? guard.sleeps + 1 : 0;
	guard.switches = usage.ru_nvcsw;
	guard.last_ns = now;
	return now - guard.begin_ns > COMPUTES_MOST_NS ||
	       guard.sleeps >= guard.sleeps_most;
}

/* A kernel that refuses it leaves the report without. */
static void clock_start(void)
{
	const struct itimerspec each = { { 0, TICK_NS }, { 0, TICK_NS } };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = SIGABRT,
				  .sigev_value.sival_ptr = &guard };
	int timer;

	guard.last_ns = own_ns();
	event._sigev_un._tid = gettid();
	if (!syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer))
		syscall(SYS_timer_settime, timer, 0, &each, NULL);
}

static void patience_set(int sleeps_most)
{
	guard.sleeps_most = sleeps_most;
	guard.sleeps = 0;
	guard.begin_ns = own_ns();
}

/* With calls of the kernel only. */
static void say_plainly(const char *text)
{
	if (vm_node_said() || !vm_last_word_take())
		return;
	if (syscall(SYS_write, STDERR_FILENO, "vmpirun: ", 9) >= 0 &&
	    syscall(SYS_write, STDERR_FILENO, text, strlen(text)) >= 0)
		syscall(SYS_write, STDERR_FILENO, "\n", 1);
	vm_last_word_give();
}

/* The report has met a fault, or is late. */
static _Noreturn void fail(void)
{
	int failures = guard.failures++;

	patience_set(SLEEPS_MOST_SECOND);
	if (failures == 0 && guard.second)
		guard.second();
	if (failures <= 1 && guard.text[0])
		guard_end(guard.signal, guard.text);
	if (failures <= 2)
		say_plainly(guard.text[0] ?
				    guard.text :
				    "a fault, and others in its report");
	vm_exit_now(128 + guard.signal);
}

bool guard_enter(int signal, const siginfo_t *info)
{
	bool tick = info->si_code == SI_TIMER &&
		    info->si_value.sival_ptr == &guard;

	/* Ticks come to the thread of the report only. */
	if (++depth == 1 && !tick)
		return true;
	if (tick && !is_late()) {
		depth--;
		return false;
	}
	if (!is_mine())
		guard_begin(signal, NULL);
	fail();
}

void guard_leave(void)
{
	depth--;
}

static void signals_unblock(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (int i = 0; i < FATALS; i++)
		sigaddset(&set, fatal_signals[i]);
	handler_mask(SIG_UNBLOCK, &set, NULL);
}

void guard_begin(int signal, void (*second)(void))
{
	pid_t none = 0;

	if (is_mine())
		fail();
	while (!atomic_compare_exchange_strong(&guard.thread, &none, gettid()))
		for (;;)
			pause();
	guard.signal = signal;
	guard.second = second;
	patience_set(SLEEPS_MOST);
	signals_unblock();
	clock_start();
}

void guard_certain(const char *text)
{
	snprintf(guard.text, sizeof(guard.text), "%s", text);
}

void guard_end(int signal, const char *text)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	struct rlimit core;
	char line[384 + WHERE_MAX];
	sigset_t set;
	int n;

	patience_set(SLEEPS_MOST_END);
	if (getrlimit(RLIMIT_CORE, &core) || !core.rlim_cur)
		vm_node_die(128 + signal, "%s", text);
	n = snprintf(line, sizeof(line), "vmpirun: %s\n", text);
	if (n > 0)
		syscall(SYS_write, STDERR_FILENO, line, (size_t)n);
	signals_set(signal, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal);
	/* A core file has the memory that is shared, with the ranks in it,
	 * only of a file without a name. */
	vm_export_died();
	vm_exit_keep();
	raise(signal);
	handler_mask(SIG_UNBLOCK, &set, NULL);
	vm_exit_now(128 + signal);
}
