/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a window's common memory.
 */
#include "core/window/share.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mapfile.h"
#include "fabric/shm/memfd.h"

int vm_window_share_make(struct vm_window_share *share, const char **why)
{
	int fd = vm_memfd_make("vmpi-window");
	struct stat about;

	if (fd < 0 || fstat(fd, &about)) {
		*why = strerror(errno);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*share = (struct vm_window_share){
		.space = vm_memfd_space(),
		.device = (uint64_t)about.st_dev,
		.number = (uint64_t)about.st_ino,
		.pid = (uint32_t)syscall(SYS_getpid),
		.fd = (uint32_t)fd,
	};
	return fd;
}

/* Whether what was opened is the file. */
static int check(const struct vm_window_share *share, int fd, const char **why)
{
	struct stat about;

	*why = "what is there is not its file";
	return fstat(fd, &about) == 0 &&
			       (uint64_t)about.st_dev == share->device &&
			       (uint64_t)about.st_ino == share->number ?
		       0 :
		       -1;
}

bool vm_window_share_is_near(const struct vm_window_share *share)
{
	return share->space && share->space == vm_memfd_space();
}

void *vm_window_share_map(const struct vm_window_share *share, size_t bytes,
			  const char **why)
{
	void *memory = MAP_FAILED;
	int fd;

	*why = "it is on another host, or in a container";
	if (!vm_window_share_is_near(share))
		return NULL;
	fd = vm_memfd_open((pid_t)share->pid, share->fd, S_IFREG, why);
	if (fd < 0)
		return NULL;
	/* All give it the same size; who comes first does it. */
	if (check(share, fd, why) == 0) {
		errno = vm_mapfile_reserve(fd, bytes);
		if (!errno)
			memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_NORESERVE, fd, 0);
		if (memory == MAP_FAILED)
			*why = strerror(errno);
	}
	close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}
