/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heap and the locks of the process may be what is broken: calls of the
 * kernel itself, as the node program replaces those of libc, and memory that is
 * there.  The child shares the memory of this
 * process until it executes vmpi-where: a copy of it could be too large.
 */
#include "core/runtime/where.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/err.h"
#include "core/runtime/debug.h"

#define PATIENCE_MS 2000
#define CHILD_STACK 16384
#define PATH_BYTES 1024

/* From the directory of the library, or of the node program. */
static const char *const places[] = {
	"vmpi-where",			 /* beside the node program */
	"../vmpi-where/vmpi-where",	 /* build/bin/vmpi-node */
	"../bin/vmpi-where/vmpi-where",	 /* build/lib */
	"../libexec/vmpi/vmpi-where",	 /* PREFIX/lib */
	"../../libexec/vmpi/vmpi-where", /* PREFIX/lib/x86_64-linux-gnu */
};

#if defined(__x86_64__)
static void registers_take(struct vm_where_ask *ask, const ucontext_t *context)
{
	static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX,
				     REG_RSI, REG_RDI, REG_RBP, REG_RSP,
				     REG_R8,  REG_R9,  REG_R10, REG_R11,
				     REG_R12, REG_R13, REG_R14, REG_R15,
				     REG_RIP };

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		ask->registers[i] =
			(uint64_t)context->uc_mcontext.gregs[order[i]];
	ask->pc = ask->registers[16];
	ask->sp_number = 7;
}
#elif defined(__aarch64__)
static void registers_take(struct vm_where_ask *ask, const ucontext_t *context)
{
	memcpy(ask->registers, context->uc_mcontext.regs,
	       sizeof(context->uc_mcontext.regs));
	ask->registers[31] = context->uc_mcontext.sp;
	ask->pc = context->uc_mcontext.pc;
	ask->sp_number = 31;
}
#endif

/* One line of the list of mappings: the file of the address. */
static bool map_match(char *path, const char *line, uintptr_t address)
{
	unsigned long begin, end;
	int name = 0;

	if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &begin, &end, &name) <
		    2 ||
	    !name || line[name] != '/' || address < begin || address >= end)
		return false;
	snprintf(path, PATH_BYTES, "%s", line + name);
	return true;
}

/* The file that this code is in. */
static bool own_path(char *path)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps",
			      O_RDONLY | O_CLOEXEC);
	char block[2048], line[PATH_BYTES + 128];
	size_t used = 0;
	ssize_t n = 0;
	bool found = false;

	while (fd >= 0 && !found &&
	       (n = syscall(SYS_read, fd, block, sizeof(block))) > 0)
		for (ssize_t i = 0; i < n && !found; i++) {
			line[used] = block[i] == '\n' ? '\0' : block[i];
			used += used < sizeof(line) - 1;
			if (block[i] != '\n')
				continue;
			found = map_match(path, line, (uintptr_t)&vm_where_say);
			used = 0;
		}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return found;
}

static bool helper_find(char *path)
{
	char own[PATH_BYTES], *slash;

	if (!own_path(own) || !(slash = strrchr(own, '/')))
		return false;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		int n = snprintf(path, PATH_BYTES, "%s/%s", own, places[i]);

		if (n > 0 && n < PATH_BYTES &&
		    !syscall(SYS_faccessat, AT_FDCWD, path, X_OK))
			return true;
	}
	return false;
}

struct helper {
	const char *path;
	int end; /* of the pair of sockets */
};

/* The child; the end is out of the way of 0 and 1. */
static int helper_exec(void *arg)
{
	const struct helper *helper = arg;
	char *const words[] = { (char *)(uintptr_t)helper->path, NULL };
	char *const none[] = { NULL };

	syscall(SYS_dup3, helper->end, STDIN_FILENO, 0);
	syscall(SYS_dup3, helper->end, STDOUT_FILENO, 0);
	syscall(SYS_execve, helper->path, words, none);
	syscall(SYS_exit, 127);
	return 127;
}

static pid_t helper_start(int end)
{
	static char stack[CHILD_STACK] VM_ALIGNED(16);
	static char path[PATH_BYTES];
	struct helper helper = { .path = path };
	sigset_t all, before;
	pid_t pid = -1;

	if (!helper_find(path))
		return -1;
	helper.end = (int)syscall(SYS_fcntl, end, F_DUPFD_CLOEXEC, 3);
	if (helper.end < 0)
		return -1;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	/* Where only those may read its memory that it says. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	pid = clone(helper_exec, stack + sizeof(stack), CLONE_VM | CLONE_VFORK,
		    &helper);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	syscall(SYS_close, helper.end);
	return pid;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* All that the helper says, in time. */
static bool answer_read(int end, char *text, size_t bytes)
{
	int64_t until = now_ms() + PATIENCE_MS, left;
	struct pollfd look = { .fd = end, .events = POLLIN };
	size_t used = 0;

	while ((left = until - now_ms()) > 0) {
		ssize_t n;

		struct timespec rest = { .tv_sec = left / 1000,
					 .tv_nsec = left % 1000 * 1000000 };

		if (syscall(SYS_ppoll, &look, 1, &rest, NULL, 0) <= 0)
			continue;
		n = syscall(SYS_read, end, text + used, bytes - 1 - used);
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	text[used] = '\0';
	return used && left > 0;
}

static bool ask_send(int end, const struct vm_where_ask *ask)
{
	return syscall(SYS_sendto, end, ask, sizeof(*ask), MSG_NOSIGNAL, NULL,
		       0) == (ssize_t)sizeof(*ask);
}

/* Asks, and has the answer. */
static bool ask_all(char text[VM_WHERE_MAX], struct vm_where_ask *ask,
		    const void *context)
{
	bool said = false;
	ucontext_t here;
	int ends[2];
	pid_t pid;

	text[0] = '\0';
	ask->version = VM_WHERE_VERSION;
	ask->bytes = sizeof(*ask);
	ask->pid = getpid();
	ask->runtime = (uintptr_t)&vm_where_say;
	if (!context && getcontext(&here))
		return false;
	registers_take(ask, context ? context : &here);
	if (syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
		    ends))
		return false;
	pid = helper_start(ends[1]);
	syscall(SYS_close, ends[1]);
	if (pid > 0 && ask_send(ends[0], ask)) {
		text[0] = ' ';
		said = answer_read(ends[0], text + 1, VM_WHERE_MAX - 1);
	}
	if (pid > 0)
		syscall(SYS_kill, pid, SIGKILL);
	syscall(SYS_close, ends[0]);
	if (!said)
		text[0] = '\0';
	return said;
}

bool vm_where_say(char text[VM_WHERE_MAX], const void *context, bool own)
{
	struct vm_where_ask ask = { .own = own };

	return ask_all(text, &ask, context);
}

bool vm_where_fault(char text[VM_WHERE_MAX], int *rank, const void *context,
		    const void *address)
{
	struct vm_where_ask ask = { .fault = (uintptr_t)address,
				    .debug = (uintptr_t)&vmpi_debug,
				    .rank = *rank };
	int other, used = 0;

	if (!ask_all(text, &ask, context))
		return false;
	if (sscanf(text, " %d%n", &other, &used) == 1 && used) {
		*rank = other;
		memmove(text, text + used, strlen(text + used) + 1);
	}
	return true;
}
