/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that is interrupted may hold the lock of a file, so another thread
 * flushes while the caller waits for a second at most.
 */
#include "base/flush.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_SECONDS_MAX 1

static void *flush_main(void *done)
{
	fflush(NULL);
	sem_post(done);
	return NULL;
}

void vm_flush_files(void)
{
	/* Static: after the deadline the thread still uses it. */
	static sem_t done;
	struct timespec until;
	pthread_t thread;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += FLUSH_SECONDS_MAX;
	if (sem_init(&done, 0, 0) ||
	    pthread_create(&thread, NULL, flush_main, &done))
		return;
	while (sem_timedwait(&done, &until) && errno == EINTR)
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
