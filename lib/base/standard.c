/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * open() takes the lowest number that is free.
 */
#include "base/standard.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

void vm_standard_open(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		/* Without the device they stay closed: nowhere to say it. */
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd ? O_WRONLY : O_RDONLY) < 0)
			return;
}

const char *vm_standard_name(char name[VM_STANDARD_NAME_MAX], int fd)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, VM_STANDARD_NAME_MAX - 1);
	/* Pipes and sockets have names without a slash. */
	if (n > 0 && name[0] == '/')
		name[n] = '\0';
	else
		snprintf(name, VM_STANDARD_NAME_MAX, "standard %s",
			 fd == STDERR_FILENO ? "error" : "output");
	return name;
}

int vm_standard_beyond(int fd, bool inherit)
{
	int command = inherit ? F_DUPFD : F_DUPFD_CLOEXEC;
	int copy = fcntl(fd, command, VM_STANDARD_BEYOND);

	return copy < 0 ? fcntl(fd, command, 0) : copy;
}

bool vm_standard_one_place(void)
{
	struct stat output, error;

	return !fstat(STDOUT_FILENO, &output) &&
	       !fstat(STDERR_FILENO, &error) && output.st_dev == error.st_dev &&
	       output.st_ino == error.st_ino;
}

bool vm_standard_unread(void)
{
	struct pollfd ends[] = { { .fd = STDOUT_FILENO },
				 { .fd = STDERR_FILENO } };

	return poll(ends, 2, 0) > 0 &&
	       (ends[0].revents | ends[1].revents) & (POLLERR | POLLHUP);
}

bool vm_standard_hand(char text[VM_STANDARD_HANDED_MAX], int fd)
{
	struct stat stat;
	int copy = vm_standard_beyond(fd, true);

	if (copy < 0 || fstat(copy, &stat))
		return false;
	snprintf(text, VM_STANDARD_HANDED_MAX, "%d:%llu", copy,
		 (unsigned long long)stat.st_ino);
	return true;
}

int vm_standard_handed(const char *text)
{
	unsigned long long inode;
	struct stat stat;
	int fd;

	if (!text || sscanf(text, "%d:%llu", &fd, &inode) != 2 || fd <= 0 ||
	    fstat(fd, &stat) || stat.st_ino != inode)
		return -1;
	return fd;
}
