/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets of the network's library, which leaves them open for the programs
 * that ranks execute and for their children.  Whoever holds a connection keeps
 * it up after the process that it belongs to has died.
 */
#include "sockets.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "descriptors.h"
#include "real.h"

#define CALLER __builtin_return_address(0)

static struct {
	pthread_mutex_t lock; /* guards all below */
	/* By descriptor, its file, or 0: made by the network.  It may have been
	 * closed, and then the number belongs to another file. */
	ino_t *file;
	size_t room;
} sockets = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* libc's: ours would let other ranks run. */
static void lock_take(void)
{
	REAL(pthread_mutex_lock)(&sockets.lock);
}

/* Makes room for a descriptor; the lock is held. */
static bool room_make(size_t fd)
{
	size_t room = fd + 64;
	ino_t *file;

	if (fd < sockets.room)
		return true;
	file = realloc(sockets.file, room * sizeof(*file));
	if (!file)
		return false;
	memset(file + sockets.room, 0, (room - sockets.room) * sizeof(*file));
	sockets.file = file;
	sockets.room = room;
	return true;
}

/* The library takes what follows for a lost connection, and vmpi that for a
 * death. */
static bool is_made(int rc)
{
	if (rc < 0 && errno == EMFILE)
		vm_node_abort(1, "the network needs one more descriptor, and "
				 "all of this process are in use; raise "
				 "ulimit -n");
	if (rc < 0 && errno == ENFILE)
		vm_node_abort(1, "the network needs one more descriptor, and "
				 "all of the machine are in use; raise "
				 "fs.file-max");
	return rc >= 0;
}

static int made(int fd)
{
	return is_made(fd) ? descriptors_keep(fd) : -1;
}

/* Remembers a socket; without memory for it a child holds it, too. */
static int note(int fd)
{
	struct stat status;

	fd = made(fd);
	if (fd < 0 || fstat(fd, &status))
		return fd;
	lock_take();
	if (room_make((size_t)fd))
		sockets.file[fd] = status.st_ino;
	pthread_mutex_unlock(&sockets.lock);
	return fd;
}

NODE_EXPORT int socket(int domain, int type, int protocol)
{
	if (!descriptors_network_calls(CALLER))
		return REAL(socket)(domain, type, protocol);
	return note(REAL(socket)(domain, type | SOCK_CLOEXEC, protocol));
}

NODE_EXPORT int socketpair(int domain, int type, int protocol, int pair[2])
{
	if (!descriptors_network_calls(CALLER))
		return REAL(socketpair)(domain, type, protocol, pair);
	if (!is_made(REAL(socketpair)(domain, type | SOCK_CLOEXEC, protocol,
				      pair)))
		return -1;
	pair[0] = descriptors_keep(pair[0]);
	pair[1] = descriptors_keep(pair[1]);
	return 0;
}

NODE_EXPORT int accept(int fd, struct sockaddr *address, socklen_t *bytes)
{
	if (!descriptors_network_calls(CALLER))
		return REAL(accept)(fd, address, bytes);
	return note(accept4(fd, address, bytes, SOCK_CLOEXEC));
}

NODE_EXPORT int epoll_create(int size)
{
	if (!descriptors_network_calls(CALLER))
		return REAL(epoll_create)(size);
	return made(epoll_create1(EPOLL_CLOEXEC));
}

void sockets_fork_begin(void)
{
	lock_take();
}

void sockets_fork_parent(void)
{
	pthread_mutex_unlock(&sockets.lock);
}

void sockets_fork_child(void)
{
	for (size_t fd = 0; fd < sockets.room; fd++) {
		struct stat status;

		if (sockets.file[fd] && !fstat((int)fd, &status) &&
		    S_ISSOCK(status.st_mode) &&
		    status.st_ino == sockets.file[fd])
			close((int)fd);
	}
	pthread_mutex_unlock(&sockets.lock);
}
