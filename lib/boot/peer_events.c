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

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/own.h"

/* What the thread polls: to be woken, to pump, and for ends. */
enum { WAKE_FD, PUMP_FD, END_FDS };

/* The launcher knows how a process has ended, and is to say it first: who heard
 * of it before would end the job for that, and not for its cause. */
#define END_WAIT_NS UINT64_C(1000000000)

enum state { STATE_ALIVE, STATE_PENDING, STATE_REPORTED };

int vm_peer_events_init(struct vm_peer_events *events)
{
	*events = (struct vm_peer_events){ .pump_fd = -1 };
	pthread_mutex_init(&events->lock, NULL);
	events->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (events->wake_fd >= 0)
		return 0;
	vm_log(VM_ERROR, "eventfd: %s", strerror(errno));
	pthread_mutex_destroy(&events->lock);
	return -VMPI_ELIMIT;
}

static void wake(struct vm_peer_events *events)
{
	eventfd_write(events->wake_fd, 1);
}

void vm_peer_events_stop(struct vm_peer_events *events)
{
	if (!events->running)
		return;
	pthread_mutex_lock(&events->lock);
	events->stopping = true;
	pthread_mutex_unlock(&events->lock);
	wake(events);
	pthread_join(events->thread, NULL);
	events->running = false;
}

static void fd_close(struct pollfd *fd)
{
	if (fd->fd >= 0)
		close(fd->fd);
	fd->fd = -1;
}

static void ends_drop(struct vm_peer_events *events)
{
	for (int i = 0; i < events->end_count; i++)
		fd_close(&events->fds[END_FDS + i]);
	events->end_count = 0;
}

void vm_peer_events_fini(struct vm_peer_events *events)
{
	ends_drop(events);
	close(events->wake_fd);
	free(events->ends);
	free(events->fds);
	free(events->status);
	free(events->state);
	pthread_mutex_destroy(&events->lock);
}

int vm_peer_events_count(struct vm_peer_events *events, int processes)
{
	size_t count = (size_t)processes + 1;

	events->status = calloc(count, sizeof(*events->status));
	events->state = calloc(count, sizeof(*events->state));
	events->fds = calloc(END_FDS, sizeof(*events->fds));
	if (!events->status || !events->state || !events->fds) {
		vm_log(VM_ERROR, "out of memory for %d processes", processes);
		return -VMPI_ENOMEM;
	}
	events->count = processes;
	return 0;
}

void vm_peer_events_pump(struct vm_peer_events *events, int fd,
			 vm_peer_events_pump_fn pump, void *arg)
{
	events->pump_fd = fd;
	events->pump = pump;
	events->pump_arg = arg;
}

void vm_peer_events_end_fd(struct vm_peer_events *events, int process, int fd)
{
	size_t count = (size_t)events->end_count;
	struct pollfd *fds =
		realloc(events->fds, (END_FDS + count + 1) * sizeof(*fds));
	struct vm_peer_end *ends =
		realloc(events->ends, (count + 1) * sizeof(*ends));

	events->fds = fds ? fds : events->fds;
	events->ends = ends ? ends : events->ends;
	if (!fds || !ends) {
		close(fd);
		return;
	}
	fds[END_FDS + count] = (struct pollfd){ .fd = fd, .events = POLLIN };
	ends[count] = (struct vm_peer_end){ .process = process, UINT64_MAX };
	events->end_count++;
}

void vm_peer_events_add(struct vm_peer_events *events, int process, int status)
{
	int at = process == -1 ? events->count : process;

	if (at < 0 || at > events->count ||
	    (process >= 0 && at == events->count))
		return;
	pthread_mutex_lock(&events->lock);
	if (events->state[at] == STATE_ALIVE) {
		events->state[at] = STATE_PENDING;
		events->status[at] = status;
	}
	pthread_mutex_unlock(&events->lock);
	wake(events);
}

/* Takes the next report; false: none. */
static bool pending_take(struct vm_peer_events *events,
			 struct vm_boot_peer_event *next)
{
	bool found = false;

	pthread_mutex_lock(&events->lock);
	for (int i = 0; !found && i <= events->count; i++) {
		if (events->state[i] != STATE_PENDING)
			continue;
		events->state[i] = STATE_REPORTED;
		*next = (struct vm_boot_peer_event){
			.process = i == events->count ? -1 : i,
			.status = events->status[i],
		};
		found = true;
	}
	pthread_mutex_unlock(&events->lock);
	return found;
}

static bool is_stopping(struct vm_peer_events *events)
{
	bool stopping;

	pthread_mutex_lock(&events->lock);
	stopping = events->stopping;
	pthread_mutex_unlock(&events->lock);
	return stopping;
}

static bool launcher_is_gone(struct vm_peer_events *events)
{
	bool gone;

	pthread_mutex_lock(&events->lock);
	gone = events->state[events->count] != STATE_ALIVE;
	pthread_mutex_unlock(&events->lock);
	return gone;
}

/* Takes in which processes have ended; of which it is due to report that. */
static void ends_take(struct vm_peer_events *events)
{
	uint64_t now = events->end_count ? vm_clock_ns() : 0;

	for (int i = 0; i < events->end_count; i++) {
		struct pollfd *fd = &events->fds[END_FDS + i];
		struct vm_peer_end *end = &events->ends[i];

		if (fd->fd >= 0 && fd->revents) {
			fd_close(fd);
			end->due_ns = now + END_WAIT_NS;
		}
		if (end->due_ns > now)
			continue;
		end->due_ns = UINT64_MAX;
		vm_peer_events_add(events, end->process, VM_BOOT_ENDED);
	}
}

/* Until the next end is due, in milliseconds, rounded up; -1: none is. */
static int wait_ms(const struct vm_peer_events *events)
{
	uint64_t due = UINT64_MAX, now;

	for (int i = 0; i < events->end_count; i++)
		if (events->ends[i].due_ns < due)
			due = events->ends[i].due_ns;
	if (due == UINT64_MAX)
		return -1;
	now = vm_clock_ns();
	return due > now ? (int)((due - now + 999999) / 1000000) : 0;
}

static void *events_main(void *arg)
{
	struct vm_peer_events *events = arg;
	struct pollfd *fds = events->fds;
	struct vm_boot_peer_event next;
	eventfd_t ignored;

	while (!is_stopping(events)) {
		fds[WAKE_FD] = (struct pollfd){ .fd = events->wake_fd,
						.events = POLLIN };
		fds[PUMP_FD] = (struct pollfd){ .fd = launcher_is_gone(events) ?
							      -1 :
							      events->pump_fd,
						.events = POLLIN };
		while (pending_take(events, &next))
			events->fn(&next, events->arg);
		if (poll(fds, END_FDS + (nfds_t)events->end_count,
			 wait_ms(events)) < 0) {
			/* The program has limited itself to fewer. */
			if (errno == EINVAL)
				ends_drop(events);
			continue;
		}
		if (fds[WAKE_FD].revents)
			eventfd_read(events->wake_fd, &ignored);
		if (fds[PUMP_FD].revents)
			events->pump(events->pump_arg);
		ends_take(events);
	}
	return NULL;
}

int vm_peer_events_watch(struct vm_peer_events *events,
			 vm_boot_peer_event_fn fn, void *arg)
{
	sigset_t all, before;
	struct vm_own own;
	int error;

	events->fn = fn;
	events->arg = arg;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	vm_own_begin(&own);
	error = vm_own_create(&events->thread, events_main, events);
	vm_own_end(&own);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		vm_log(VM_ERROR, "a thread cannot be started: %s",
		       vm_own_why(error));
		return -VMPI_ELIMIT;
	}
	events->running = true;
	return 0;
}
