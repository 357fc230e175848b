/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of the process for a reason: one line of text, said by one process of
 * the job, and the exit code.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/last_word.h"
#include "boot/boot.h"
#include "core/runtime/child.h"
#include "core/runtime/node.h"
#include "core/runtime/where.h"
#include "fabric/fabric.h"
#include "fabric/packet/vars.h"
#include "introspect/export/export.h"

/* How often, and at what distance, one looks whether the launcher has said it:
 * two seconds, in which even a busy machine lets it see the death. */
#define DEATH_LOOKS 100
#define DEATH_NS 20000000

/* When another process has died that is the reason of all that follows: gives
 * the launcher the time to say so first. */
static void death_let_say(void)
{
	struct timespec moment = { .tv_nsec = DEATH_NS };

	if (!vm_node || !vm_node->fabric ||
	    !__atomic_load_n(&vm_fabric_pvars(vm_node->fabric)->peers_failed,
			     __ATOMIC_RELAXED))
		return;
	for (int i = 0; i < DEATH_LOOKS && !vm_last_word_said(); i++)
		syscall(SYS_nanosleep, &moment, NULL);
}

/* The end of a child made by fork(), which the job does not notice. */
static _Noreturn void child_end(int code, const char *text, size_t length)
{
	if (write(STDERR_FILENO, text, length) < 0)
		code = code ? code : 1;
	vm_exit_now(code);
}

/* Where in its program the rank is that the process ends for; a handler has
 * said it. */
static size_t place_add(char *text, size_t length, size_t bytes)
{
	char place[VM_WHERE_MAX];
	int n;

	if (!vm_where_say(place, NULL, true))
		return length;
	n = snprintf(text + length, bytes - length - 1, " (%s)", place + 1);
	if (n > 0)
		length += (size_t)n;
	return length > bytes - 2 ? bytes - 2 : length;
}

/* Who is told, and what is done before: everybody, and the hook is called; the
 * same in a signal handler; or nobody, this process only fails. */
enum end { END_JOB, END_IN_HANDLER, END_PROCESS };

static _Atomic bool said;

bool vm_node_said(void)
{
	return atomic_load_explicit(&said, memory_order_relaxed);
}

/* The first thread wins; it may come again, after a fault on its way here. */
static void turn_take(void)
{
	static _Atomic pid_t ending;
	pid_t self = gettid(), none = 0;

	if (!atomic_compare_exchange_strong(&ending, &none, self) &&
	    none != self)
		for (;;)
			pause();
}

/* Prints and ends the process; of several callers the first wins. */
static _Noreturn void node_end(int code, enum end end, const char *format,
			       va_list args)
{
	bool hook = end != END_IN_HANDLER, first;
	char text[1024 + VM_WHERE_MAX + 4] = "vmpirun: ";
	size_t length = strlen(text);
	int n;

	if (!vm_child())
		turn_take();
	if (hook && !vm_child())
		death_let_say();
	n = vsnprintf(text + length, sizeof(text) - length - 1, format, args);
	if (n > 0)
		length += (size_t)n;
	if (length > sizeof(text) - 2)
		length = sizeof(text) - 2;
	text[length] = '\n';
	if (vm_child())
		child_end(code, text, length + 1);
	if (hook && vm_node_hooks.end)
		vm_node_hooks.end();
	/* What a signal ends can be looked at afterwards, if that is wanted. */
	if (hook)
		vm_export_remove();
	else
		vm_export_died();
	first = vm_last_word_take();
	if (first && hook && vm_rank_self())
		length = place_add(text, length, sizeof(text));
	text[length++] = '\n';
	if (first && !atomic_exchange(&said, true) &&
	    write(STDERR_FILENO, text, length) < 0)
		code = code ? code : 1; /* nowhere left to say it */
	/* To the launcher, a process that ends without a word has died.  If
	 * another one has said why all end, its code is the job's. */
	if (first && vm_node_hooks.boot && end != END_PROCESS)
		vm_boot_abort(vm_node_hooks.boot, code, "see standard error",
			      !hook);
	if (first)
		vm_last_word_give();
	/* Not _exit(): the node program replaces that one for its ranks. */
	vm_exit_now(code);
}

void vm_node_abort(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	node_end(code, END_JOB, format, args);
}

void vm_node_die(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	node_end(code, END_IN_HANDLER, format, args);
}

void vm_node_fail(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	node_end(code, vm_node_hooks.keep_going ? END_PROCESS : END_JOB, format,
		 args);
}
