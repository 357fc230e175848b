/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files without a name.
 */
#include "fabric/shm/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int make(const char *name)
{
#ifdef MFD_NOEXEC_SEAL
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (fd >= 0 || errno != EINVAL)
		return fd;
#endif
	return memfd_create(name, MFD_CLOEXEC);
}

int vm_memfd_make(const char *name)
{
	int fd = make(name), error;

	if (fd < 0 || fchmod(fd, 0600) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

uint64_t vm_memfd_space(void)
{
	uint64_t hash = 0xcbf29ce484222325u;
	struct stat about;
	char id[64];
	ssize_t n = -1;
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		n = read(fd, id, sizeof(id));
		close(fd);
	}
	if (n <= 0 || stat("/proc/self/ns/pid", &about))
		return 0;
	for (ssize_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)id[i]) * 0x100000001b3u;
	return (hash ^ (uint64_t)about.st_ino) * 0x100000001b3u | 1;
}

int vm_memfd_open(pid_t pid, uint32_t fd, mode_t kind, const char **why)
{
	struct stat about;
	char path[64];
	int own;

	snprintf(path, sizeof(path), "/proc/%d/fd/%u", (int)pid, fd);
	*why = "what it has published is not its file";
	if (stat(path, &about)) {
		*why = strerror(errno);
		return -1;
	}
	if ((about.st_mode & S_IFMT) != kind || about.st_uid != geteuid())
		return -1;
	/* A reader too, so that a pipe without another one is no signal. */
	own = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (own < 0)
		*why = strerror(errno);
	return own;
}

int vm_memfd_owner(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

bool vm_memfd_owner_ended(pid_t pid, int wait_ms)
{
	int fd = vm_memfd_owner(pid);
	struct pollfd ended = { .fd = fd, .events = POLLIN };
	bool dead;

	if (fd < 0)
		return errno == ESRCH;
	dead = poll(&ended, 1, wait_ms) == 1;
	close(fd);
	return dead;
}
