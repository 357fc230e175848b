/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * open() takes the lowest number that is free.
 */
#include "base/standard.h"

#include <fcntl.h>
#include <unistd.h>

void vm_standard_open(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		/* Without the device they stay closed: nowhere to say it. */
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd ? O_WRONLY : O_RDONLY) < 0)
			return;
}
