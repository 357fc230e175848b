/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel tells it by a signal, which the service's thread gets: it has all
 * signals blocked, and reads this one from a descriptor.
 */
#include "leases.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/image/keep.h"
#include "core/service/thread.h"
#include "node.h"

/* Not one of handler.c's. */
#define SIGNAL (SIGRTMAX - 8)

static void signal_take(void *arg, int fd, short events)
{
	struct signalfd_siginfo info;

	(void)arg;
	(void)events;
	while (read(fd, &info, sizeof(info)) == sizeof(info))
		;
	vm_image_keep_look();
}

/* Once, on that thread. */
static void begin(void *arg, uint64_t now_ns)
{
	int *tick = arg;

	(void)now_ns;
	vm_image_keep_serve(SIGNAL);
	vm_service_drop(*tick);
}

void leases_start(void)
{
	static int tick;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGNAL);
	/* What the kernel sends when its queue is full. */
	sigaddset(&set, SIGIO);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd >= 0 && vm_service_fd(fd, POLLIN, signal_take, NULL) > 0 &&
	    (tick = vm_service_every(1, begin, &tick)) > 0)
		return;
	/* Nobody would hear of writers. */
	vm_image_keep_all();
}
