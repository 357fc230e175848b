/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of files for ranks.
 *
 * POSIX record locks belong to a process: all ranks of one would hold them
 * together, and closing any descriptor of the file would release them.  Those
 * of an open file description exclude ranks as they exclude processes, of vmpi
 * or not.  What libgcov adds to a .gcda file, for one, is guarded like that.
 */
#undef _FILE_OFFSET_BITS

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

#include "blocking.h"
#include "real.h"

/* The command for locks of the description; or the same: it is not about
 * locks. */
static int command_for(int command)
{
	switch (command) {
	case F_GETLK:
		return F_OFD_GETLK;
	case F_SETLK:
		return F_OFD_SETLK;
	case F_SETLKW:
		return F_OFD_SETLKW;
	default:
		return command;
	}
}

/* Waits without blocking the worker: who holds the lock may be a rank of it. */
static int lock_wait(int fd, struct flock *lock)
{
	int rc;

	for (unsigned tries = 0;; tries++) {
		rc = REAL(fcntl)(fd, F_OFD_SETLK, lock);
		if (!rc || (errno != EAGAIN && errno != EACCES))
			return rc;
		task_pause(tries);
	}
}

static int lock_do(int fd, int command, struct flock *lock)
{
	struct flock own = *lock;
	int rc;

	own.l_pid = 0;
	if (command == F_OFD_SETLKW && node_on_task())
		rc = lock_wait(fd, &own);
	else
		rc = REAL(fcntl)(fd, command, &own);
	if (!rc && command == F_OFD_GETLK)
		*lock = own;
	return rc;
}

NODE_EXPORT int fcntl(int fd, int command, ...)
{
	va_list args;
	void *argument;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	if (argument && command_for(command) != command && node_copy())
		return lock_do(fd, command_for(command), argument);
	return REAL(fcntl)(fd, command, argument);
}

/* Offsets have 64 bits anyway. */
extern int fcntl64(int fd, int command, ...);

NODE_EXPORT int fcntl64(int fd, int command, ...)
{
	va_list args;
	void *argument;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	return fcntl(fd, command, argument);
}
