/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * open() takes the lowest number that is free.
 */
#include "base/standard.h"

#include <fcntl.h>
#include <stdio.h>
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
