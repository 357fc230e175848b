/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The name of the calling thread, exchanged for a moment; limits, asked for when
 * they are needed, because the process may change its own.
 */
#include "base/own.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"

#define STACK_BYTES ((size_t)1 << 20)

/* For so many bytes of the limit malloc() may reserve addresses for one thread
 * more: it takes 64 MiB. */
#define HEAP_SHARE ((size_t)512 << 20)
#define HEAPS_MAX 64 /* from here on its own rule does */

void vm_own_begin(struct vm_own *own)
{
	own->before[0] = '\0';
	prctl(PR_GET_NAME, own->before);
	prctl(PR_SET_NAME, VM_OWN_NAME);
}

void vm_own_end(const struct vm_own *own)
{
	prctl(PR_SET_NAME, own->before);
}

const char *vm_own_why(int error)
{
	return error == EAGAIN ? "no more processes, threads, or addresses for "
				 "their stacks: ulimit -u, ulimit -v, ulimit "
				 "-d, or a container's limit of processes is "
				 "too low" :
				 strerror(error);
}

static int timer_set(int fd, uint64_t ns)
{
	const struct itimerspec when = {
		.it_value = { (time_t)(ns / 1000000000),
			      (long)(ns % 1000000000) },
	};

	return (int)syscall(SYS_timerfd_settime, fd, 0, &when, NULL);
}

int vm_own_timer(void)
{
	int fd = (int)syscall(SYS_timerfd_create, CLOCK_MONOTONIC, TFD_CLOEXEC);
	int error;

	/* A filter of system calls may allow one without the other. */
	if (fd < 0 || timer_set(fd, 0) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

void vm_own_timer_set(int fd, uint64_t ns)
{
	if (timer_set(fd, ns))
		vm_panic("cannot set a timer: %s", strerror(errno));
}

/* The soft limit; SIZE_MAX also if it is not known. */
static size_t limit_of(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY ?
		       SIZE_MAX :
		       (size_t)limit.rlim_cur;
}

size_t vm_own_space(void)
{
	size_t space = limit_of(RLIMIT_AS), data = limit_of(RLIMIT_DATA);

	return space < data ? space : data;
}

void vm_own_spare(void)
{
	const char *tunables = getenv("GLIBC_TUNABLES");
	size_t heaps = vm_own_space() / HEAP_SHARE;

	if (heaps < HEAPS_MAX && !getenv("MALLOC_ARENA_MAX") &&
	    !(tunables && strstr(tunables, "arena_max")))
		mallopt(M_ARENA_MAX, heaps ? (int)heaps : 1);
}

/* What libc takes off the stack of a thread for thread-local variables, of
 * which many images have many. */
static size_t locals_bytes(const pthread_attr_t *attr)
{
	size_t (*ask)(const pthread_attr_t *) =
		(size_t(*)(const pthread_attr_t *))dlsym(
			RTLD_DEFAULT, "__pthread_get_minstack");

	return ask ? ask(attr) : STACK_BYTES;
}

int vm_own_create(pthread_t *thread, void *(*body)(void *arg), void *arg)
{
	pthread_attr_t attr;
	int error = pthread_attr_init(&attr);

	if (error)
		return error;
	if (vm_own_space() != SIZE_MAX ||
	    limit_of(RLIMIT_STACK) < 2 * STACK_BYTES)
		pthread_attr_setstacksize(&attr,
					  STACK_BYTES + locals_bytes(&attr));
	error = pthread_create(thread, &attr, body, arg);
	pthread_attr_destroy(&attr);
	return error;
}

int vm_own_thread(pthread_t *thread, void *(*body)(void *arg), void *arg)
{
	sigset_t all, before;
	struct vm_own own;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	vm_own_begin(&own);
	error = vm_own_create(thread, body, arg);
	vm_own_end(&own);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}
