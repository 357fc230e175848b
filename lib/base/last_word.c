/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor is an eventfd: its value is FREE, SAID, or nothing while a
 * process has the last word.  Reading it takes the value away from all others.
 */
#include "base/last_word.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FREE 1
#define SAID 2
/* Longer than it takes to find out where a program is. */
#define PATIENCE_MS 3500

static struct {
	_Atomic int fd; /* plus 1; 0: there is none */
	_Atomic bool mine, starting;
	_Atomic unsigned count; /* of errors */
} last_word;

int vm_last_word_new(void)
{
	return eventfd(FREE, EFD_CLOEXEC | EFD_NONBLOCK);
}

void vm_last_word_set(int fd)
{
	atomic_store_explicit(&last_word.fd, fd + 1, memory_order_relaxed);
}

static void value_put(int fd, uint64_t value)
{
	while (write(fd, &value, sizeof(value)) < 0 && errno == EINTR)
		;
}

bool vm_last_word_take(void)
{
	int fd = atomic_load_explicit(&last_word.fd, memory_order_relaxed) - 1;
	struct pollfd look = { .fd = fd, .events = POLLIN };
	uint64_t value;

	if (fd < 0 ||
	    atomic_load_explicit(&last_word.mine, memory_order_relaxed))
		return true;
	while (read(fd, &value, sizeof(value)) != sizeof(value)) {
		if (errno == EINTR)
			continue;
		/* The holder of the word may have died before its line was
		 * read. */
		if (errno != EAGAIN || poll(&look, 1, PATIENCE_MS) == 0)
			return true;
	}
	if (value == FREE) {
		atomic_store_explicit(&last_word.mine, true,
				      memory_order_relaxed);
		return true;
	}
	value_put(fd, SAID);
	return false;
}

void vm_last_word_give(void)
{
	int fd = atomic_load_explicit(&last_word.fd, memory_order_relaxed) - 1;

	if (fd >= 0)
		value_put(fd, SAID);
}

bool vm_last_word_said(void)
{
	int fd = atomic_load_explicit(&last_word.fd, memory_order_relaxed) - 1;
	uint64_t value;

	if (fd < 0 ||
	    atomic_load_explicit(&last_word.mine, memory_order_relaxed))
		return false;
	if (read(fd, &value, sizeof(value)) != sizeof(value))
		return errno == EAGAIN;
	value_put(fd, value);
	return value == SAID;
}

void vm_last_word_start(bool starting)
{
	atomic_store_explicit(&last_word.starting, starting,
			      memory_order_relaxed);
}

bool vm_last_word_starting(void)
{
	return atomic_load_explicit(&last_word.starting, memory_order_relaxed);
}

void vm_last_word_count(void)
{
	atomic_fetch_add_explicit(&last_word.count, 1, memory_order_relaxed);
}

unsigned vm_last_word_counted(void)
{
	return atomic_load_explicit(&last_word.count, memory_order_relaxed);
}
