/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread sleeps in poll() and costs nothing: a death is noticed while all
 * workers compute.
 */
#include "boot/peer_events.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"

enum state { STATE_ALIVE, STATE_NEWS, STATE_TOLD };

int vm_peer_events_init(struct vm_peer_events *news)
{
	*news = (struct vm_peer_events){ .pump_fd = -1 };
	pthread_mutex_init(&news->lock, NULL);
	news->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (news->event >= 0)
		return 0;
	vm_log(VM_ERROR, "eventfd: %s", strerror(errno));
	pthread_mutex_destroy(&news->lock);
	return -VMPI_ELIMIT;
}

static void wake(struct vm_peer_events *news)
{
	eventfd_write(news->event, 1);
}

void vm_peer_events_stop(struct vm_peer_events *news)
{
	if (!news->running)
		return;
	pthread_mutex_lock(&news->lock);
	news->stopping = true;
	pthread_mutex_unlock(&news->lock);
	wake(news);
	pthread_join(news->thread, NULL);
	news->running = false;
}

void vm_peer_events_fini(struct vm_peer_events *news)
{
	close(news->event);
	free(news->status);
	free(news->state);
	pthread_mutex_destroy(&news->lock);
}

int vm_peer_events_count(struct vm_peer_events *news, int processes)
{
	size_t count = (size_t)processes + 1;

	news->status = calloc(count, sizeof(*news->status));
	news->state = calloc(count, sizeof(*news->state));
	if (!news->status || !news->state) {
		vm_log(VM_ERROR, "out of memory for %d processes", processes);
		return -VMPI_ENOMEM;
	}
	news->count = processes;
	return 0;
}

void vm_peer_events_pump(struct vm_peer_events *news, int fd,
			 vm_peer_events_pump_fn pump, void *arg)
{
	news->pump_fd = fd;
	news->pump = pump;
	news->pump_arg = arg;
}

void vm_peer_events_add(struct vm_peer_events *news, int process, int status)
{
	int at = process == -1 ? news->count : process;

	if (at < 0 || at > news->count || (process >= 0 && at == news->count))
		return;
	pthread_mutex_lock(&news->lock);
	if (news->state[at] == STATE_ALIVE) {
		news->state[at] = STATE_NEWS;
		news->status[at] = status;
	}
	pthread_mutex_unlock(&news->lock);
	wake(news);
}

/* Takes the next report; false: none. */
static bool news_take(struct vm_peer_events *news,
		      struct vm_boot_peer_events *next)
{
	bool found = false;

	pthread_mutex_lock(&news->lock);
	for (int i = 0; !found && i <= news->count; i++) {
		if (news->state[i] != STATE_NEWS)
			continue;
		news->state[i] = STATE_TOLD;
		*next = (struct vm_boot_peer_events){
			.process = i == news->count ? -1 : i,
			.status = news->status[i],
		};
		found = true;
	}
	pthread_mutex_unlock(&news->lock);
	return found;
}

static bool is_stopping(struct vm_peer_events *news)
{
	bool stopping;

	pthread_mutex_lock(&news->lock);
	stopping = news->stopping;
	pthread_mutex_unlock(&news->lock);
	return stopping;
}

static bool launcher_is_gone(struct vm_peer_events *news)
{
	bool gone;

	pthread_mutex_lock(&news->lock);
	gone = news->state[news->count] != STATE_ALIVE;
	pthread_mutex_unlock(&news->lock);
	return gone;
}

static void *news_main(void *arg)
{
	struct vm_peer_events *news = arg;
	struct vm_boot_peer_events next;
	eventfd_t ignored;

	while (!is_stopping(news)) {
		struct pollfd fds[] = {
			{ .fd = news->event, .events = POLLIN },
			{ .fd = launcher_is_gone(news) ? -1 : news->pump_fd,
			  .events = POLLIN },
		};

		while (news_take(news, &next))
			news->fn(&next, news->arg);
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents)
			eventfd_read(news->event, &ignored);
		if (fds[1].revents)
			news->pump(news->pump_arg);
	}
	return NULL;
}

int vm_peer_events_watch(struct vm_peer_events *news, vm_boot_peer_events_fn fn,
			 void *arg)
{
	sigset_t all, before;
	int error;

	news->fn = fn;
	news->arg = arg;
	/* The default stack: with the thread-local variables of many images a
	 * small one would be too small. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&news->thread, NULL, news_main, news);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		vm_log(VM_ERROR, "a thread cannot be started: %s",
		       strerror(error));
		return -VMPI_ELIMIT;
	}
	news->running = true;
	return 0;
}
