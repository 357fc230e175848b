/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that is interrupted may hold the lock of a file, so another thread
 * flushes while the caller waits for a second at most.
 */
#include "base/flush.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"

#define FLUSH_SECONDS_MAX 1

static void *flush_main(void *arg)
{
	_Atomic uint32_t *done = arg;

	fflush(NULL);
	/* Pairs with the load in vm_flush_files(). */
	atomic_store(done, 1);
	syscall(SYS_futex, done, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return NULL;
}

/* Not sem_timedwait(): in the node program that lets other ranks of the worker
 * run, of which one may wait for the caller to end the process. */
void vm_flush_files(void)
{
	/* Static: after the deadline the thread still uses it. */
	static _Atomic uint32_t done;
	const struct timespec most = { .tv_sec = FLUSH_SECONDS_MAX };
	pthread_t thread;

	atomic_store(&done, 0);
	if (vm_own_create(&thread, flush_main, &done))
		return;
	while (!atomic_load(&done) &&
	       (!syscall(SYS_futex, &done, FUTEX_WAIT_PRIVATE, 0, &most, NULL,
			 0) ||
		errno == EINTR))
		;
}

int vm_flush_bytes(int fd, const char *bytes, size_t count)
{
	while (count) {
		ssize_t n = syscall(SYS_write, fd, bytes, count);

		if (n < 0 && errno == EAGAIN) {
			struct pollfd ready = { .fd = fd, .events = POLLOUT };

			poll(&ready, 1, -1);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		bytes += n;
		count -= (size_t)n;
	}
	return 0;
}
