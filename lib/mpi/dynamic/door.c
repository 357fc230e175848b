/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who knocks greets at once.  The answer is a greeting too, and he says with a
 * byte that he is still there: one who has gone meanwhile is not let in.
 */
#include "mpi/dynamic/door.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "core/rank/rank.h"
#include "mpi/comm/talk.h"
#include "mpi/dynamic/port.h"

#define MAGIC "vmpi-hi1"
#define ANSWER_NS UINT64_C(5000000000) /* for who stands at the door already */
#define FULL_NS 1000000		       /* until a crowded door is tried again */

void vm_greeting_fill(struct vm_greeting *greeting)
{
	memset(greeting, 0, sizeof(*greeting));
	memcpy(greeting->magic, MAGIC, sizeof(greeting->magic));
	greeting->rank = vm_rank_self()->there;
	greeting->number = vm_port_number();
	vm_process_job(greeting->job);
}

bool vm_greeting_fits(const struct vm_greeting *greeting)
{
	return !memcmp(greeting->magic, MAGIC, sizeof(greeting->magic)) &&
	       greeting->rank >= 0 &&
	       memchr(greeting->job, 0, sizeof(greeting->job));
}

bool vm_greeting_is_own(const struct vm_greeting *greeting)
{
	char job[VM_PROCESS_JOB_BYTES];

	vm_process_job(job);
	return !strcmp(job, greeting->job) &&
	       greeting->rank < vm_node->rank_room;
}

/* The socket's address, whose name begins with a zero. */
static socklen_t address_make(struct sockaddr_un *address, const char *port)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(address->sun_path + 1,
					    sizeof(address->sun_path) - 1,
					    "vmpi-door.%u.%s",
					    (unsigned)getuid(), port));
}

static int socket_new(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int vm_door_open(int *door, const char *port)
{
	struct sockaddr_un address;
	socklen_t length = address_make(&address, port);
	int error;

	*door = socket_new();
	if (*door >= 0 && !bind(*door, (struct sockaddr *)&address, length) &&
	    !listen(*door, SOMAXCONN))
		return 0;
	error = errno;
	if (*door >= 0)
		close(*door);
	errno = error;
	return -VMPI_EIO;
}

/* Whether a process of the user is at the other end. */
static bool is_own_user(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) &&
	       peer.uid == getuid();
}

int vm_door_answer(int door, struct vm_greeting *mine,
		   struct vm_greeting *theirs)
{
	int fd = accept4(door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	uint64_t until = vm_clock_ns() + ANSWER_NS;
	char there;

	if (fd < 0)
		return -1;
	vm_greeting_fill(mine);
	if (is_own_user(fd) &&
	    vm_fd_pass(fd, theirs, sizeof(*theirs), false, until) &&
	    vm_greeting_fits(theirs) &&
	    vm_fd_pass(fd, mine, sizeof(*mine), true, until) &&
	    vm_fd_pass(fd, &there, 1, false, until))
		return fd;
	close(fd);
	return -1;
}

/* Connects the socket: 0, or as vm_door_knock(). */
static int door_reach(int fd, const char *port, uint64_t until_ns)
{
	struct sockaddr_un address;
	socklen_t length = address_make(&address, port);

	while (connect(fd, (struct sockaddr *)&address, length)) {
		if (errno == ECONNREFUSED || errno == ENOENT)
			return -VMPI_ENOENT;
		if (errno != EAGAIN && errno != EINTR)
			return -VMPI_EIO;
		if (until_ns && vm_clock_ns() >= until_ns)
			return -VMPI_EAGAIN;
		vm_ult_sleep(FULL_NS);
	}
	return is_own_user(fd) ? 0 : -VMPI_ENOENT;
}

int vm_door_knock(const char *port, struct vm_greeting *mine,
		  struct vm_greeting *theirs, uint64_t until_ns)
{
	int fd = socket_new(), rc;

	if (fd < 0)
		return -VMPI_EIO;
	vm_greeting_fill(mine);
	rc = door_reach(fd, port, until_ns);
	if (!rc && (!vm_fd_pass(fd, mine, sizeof(*mine), true, until_ns) ||
		    !vm_fd_pass(fd, theirs, sizeof(*theirs), false, until_ns) ||
		    !vm_greeting_fits(theirs) ||
		    !vm_fd_pass(fd, mine->magic, 1, true, until_ns)))
		rc = until_ns && vm_clock_ns() >= until_ns ? -VMPI_EAGAIN :
							     -VMPI_ENOENT;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}
