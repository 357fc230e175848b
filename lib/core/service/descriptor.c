/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One epoll instance, which is itself a descriptor of the service.  Each wait is
 * entered once, and taken out by who waits.
 */
#include "core/service/descriptor.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/log.h"
#include "core/rank/state.h"
#include "core/service/thread.h"

#define BATCH 16

/* vm_node->descriptors; the lock guards what epoll knows and all waits. */
struct vm_descriptors {
	pthread_mutex_t lock;
	int epoll;
};

VM_STATIC_ASSERT(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT &&
			 EPOLLPRI == POLLPRI && EPOLLERR == POLLERR &&
			 EPOLLHUP == POLLHUP && EPOLLRDHUP == POLLRDHUP,
		 "events have one name for poll(2) and epoll");

/* By the service thread. */
static void tell(void *arg, int fd, short revents)
{
	struct vm_descriptors *all = arg;
	struct epoll_event events[BATCH];
	int count;

	(void)revents;
	pthread_mutex_lock(&all->lock);
	count = epoll_wait(fd, events, BATCH, 0);
	for (int i = 0; i < count; i++) {
		struct vm_descriptor *wait = events[i].data.ptr;

		wait->ready = (int)events[i].events;
		vm_req_complete_outside(&wait->req);
	}
	pthread_mutex_unlock(&all->lock);
}

static int failed(const char *what)
{
	vm_log(VM_ERROR, "a task cannot wait for a descriptor: %s: %s", what,
	       strerror(errno));
	return -VMPI_ELIMIT;
}

static int all_new(struct vm_descriptors **all)
{
	struct vm_descriptors *new = malloc(sizeof(*new));
	int rc;

	if (!new)
		return -VMPI_ENOMEM;
	pthread_mutex_init(&new->lock, NULL);
	new->epoll = epoll_create1(EPOLL_CLOEXEC);
	rc = new->epoll < 0 ? failed("epoll_create1") :
			      vm_service_fd(new->epoll, POLLIN, tell, new);
	if (rc < 0) {
		if (new->epoll >= 0)
			close(new->epoll);
		pthread_mutex_destroy(&new->lock);
		free(new);
		return rc;
	}
	*all = new;
	return 0;
}

/* Those of the node, which are made by the first who waits. */
static int all_get(struct vm_descriptors **all)
{
	int rc = 0;

	/* Pairs with the store below. */
	*all = atomic_load_explicit(&vm_node->descriptors,
				    memory_order_acquire);
	if (*all)
		return 0;
	vm_lock_take(&vm_node->descriptors_lock);
	*all = atomic_load_explicit(&vm_node->descriptors,
				    memory_order_relaxed);
	if (!*all) {
		rc = all_new(all);
		if (!rc)
			atomic_store_explicit(&vm_node->descriptors, *all,
					      memory_order_release);
	}
	vm_lock_give(&vm_node->descriptors_lock);
	return rc;
}

/* Enters a wait; a descriptor that somebody waits for already, under another
 * number. */
static int enter(struct vm_descriptors *all, struct vm_descriptor *wait,
		 int events)
{
	struct epoll_event event = { .events = (uint32_t)events | EPOLLONESHOT,
				     .data.ptr = wait };

	if (!epoll_ctl(all->epoll, EPOLL_CTL_ADD, wait->fd, &event))
		return 0;
	if (errno != EEXIST)
		return errno == EBADF ? -VMPI_EINVAL : failed("epoll_ctl");
	wait->fd = dup(wait->fd);
	if (wait->fd < 0)
		return failed("dup");
	wait->copied = true;
	if (!epoll_ctl(all->epoll, EPOLL_CTL_ADD, wait->fd, &event))
		return 0;
	close(wait->fd);
	return failed("epoll_ctl");
}

/* Asks for the events now: VM_DONE, VM_PENDING, or -VMPI_EINVAL. */
static int look(struct vm_descriptor *wait)
{
	struct pollfd now = { .fd = wait->fd, .events = (short)wait->events };

	if (poll(&now, 1, 0) <= 0)
		return VM_PENDING;
	wait->ready = now.revents;
	return now.revents & POLLNVAL ? -VMPI_EINVAL : VM_DONE;
}

int vm_descriptor_enter(struct vm_descriptor *wait, int fd, int events)
{
	struct vm_descriptors *all;
	int rc;

	wait->fd = fd;
	wait->events = events;
	wait->copied = false;
	rc = look(wait);
	if (rc != VM_PENDING)
		return rc;
	rc = all_get(&all);
	if (rc)
		return rc;
	vm_req_signal(&wait->req);
	atomic_fetch_add(&vm_node->outside, 1);
	pthread_mutex_lock(&all->lock);
	rc = enter(all, wait, events);
	pthread_mutex_unlock(&all->lock);
	if (!rc)
		return VM_PENDING;
	atomic_fetch_sub(&vm_node->outside, 1);
	return rc;
}

bool vm_descriptor_leave(struct vm_descriptor *wait)
{
	struct vm_descriptors *all = atomic_load_explicit(&vm_node->descriptors,
							  memory_order_acquire);
	bool done;

	pthread_mutex_lock(&all->lock);
	/* One that the program has closed is not there any more. */
	epoll_ctl(all->epoll, EPOLL_CTL_DEL, wait->fd, NULL);
	done = vm_req_is_done(&wait->req);
	pthread_mutex_unlock(&all->lock);
	/* What the service thread has not seen yet counts: whatever the task
	 * has heard of meanwhile happened after it. */
	if (!done)
		done = look(wait) == VM_DONE;
	if (wait->copied)
		close(wait->fd);
	atomic_fetch_sub(&vm_node->outside, 1);
	return done;
}

void vm_descriptors_fini(struct vm_node *node)
{
	struct vm_descriptors *all =
		atomic_load_explicit(&node->descriptors, memory_order_relaxed);

	if (!all)
		return;
	atomic_store_explicit(&node->descriptors, NULL, memory_order_relaxed);
	close(all->epoll);
	pthread_mutex_destroy(&all->lock);
	free(all);
}
