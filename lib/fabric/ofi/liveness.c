/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connecting without waiting: begun by one call, checked by the next.
 */
#include "fabric/ofi/liveness.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/ofi/reach.h"

/* Whether only a machine without that process gives this error. */
static bool means_dead(int error)
{
	return error == ECONNREFUSED;
}

void vm_liveness_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The result of a connection that was begun; -1: not yet. */
static int outcome(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	socklen_t bytes = sizeof(int);
	int error = 0;

	if (poll(&ready, 1, 0) <= 0)
		return -1;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes))
		return errno;
	return error;
}

bool vm_liveness_dead(int *fd, const void *address, size_t bytes)
{
	struct sockaddr_storage to = { 0 };
	int error;

	if (*fd >= 0) {
		error = outcome(*fd);
		if (error >= 0)
			vm_liveness_end(fd);
		vm_reach_lost(address, bytes, error);
		return error > 0 && means_dead(error);
	}
	if (bytes < sizeof(struct sockaddr_in) || bytes > sizeof(to))
		return false;
	memcpy(&to, address, bytes);
	if (to.ss_family != AF_INET && to.ss_family != AF_INET6)
		return false;
	*fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		     0);
	if (*fd < 0)
		return false;
	if (connect(*fd, (struct sockaddr *)&to, (socklen_t)bytes) == 0) {
		vm_liveness_end(fd);
		return false;
	}
	if (errno == EINPROGRESS)
		return false;
	error = errno;
	vm_liveness_end(fd);
	vm_reach_lost(address, bytes, error);
	return means_dead(error);
}
