/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * posix_fallocate() asks the file system, and writes to each block itself where
 * that has no such call.
 */
#include "base/mapfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"

/* Of the sanitizer, which may be the program's alone: NULL without one. */
extern void __lsan_register_root_region(const void *base, size_t bytes)
	__attribute__((weak));
extern void __lsan_unregister_root_region(const void *base, size_t bytes)
	__attribute__((weak));

/* Beyond that limit the growth of a file is a signal. */
static bool size_allowed(size_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
	       limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

int vm_mapfile_allocate(int fd, size_t from, size_t bytes)
{
	int error;

	if (!size_allowed(from + bytes))
		return EFBIG;
	do
		error = posix_fallocate(fd, (off_t)from, (off_t)bytes);
	while (error == EINTR);
	return error;
}

int vm_mapfile_reserve(int fd, size_t bytes)
{
	if (!size_allowed(bytes))
		return EFBIG;
	return ftruncate(fd, (off_t)bytes) ? errno : 0;
}

/* Fails with errno; a file that was made and cannot be used is removed. */
static void *file_map(const char *path, size_t bytes, mode_t mode)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	void *base = MAP_FAILED;
	int error;

	if (fd < 0)
		return MAP_FAILED;
	error = vm_mapfile_allocate(fd, 0, bytes);
	if (!error) {
		base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    0);
		error = errno;
	}
	close(fd);
	if (base == MAP_FAILED)
		unlink(path);
	errno = error;
	return base;
}

int vm_mapfile_create(struct vm_mapfile *map, const char *path, size_t bytes,
		      bool shared)
{
	void *base;

	if (path)
		base = file_map(path, bytes, shared ? 0666 : 0600);
	else
		base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED) {
		vm_log(VM_ERROR, "%s: %zu bytes: %s", path ? path : "memory",
		       bytes, strerror(errno));
		return -VMPI_EIO;
	}
	*map = (struct vm_mapfile){ base, bytes };
	return 0;
}

static int fd_map(struct vm_mapfile *map, int fd, size_t least)
{
	struct stat stat;
	void *base;

	if (fstat(fd, &stat))
		return -VMPI_EIO;
	if (!S_ISREG(stat.st_mode) || (size_t)stat.st_size < least ||
	    stat.st_size == 0)
		return -VMPI_EINVAL;
	base = mmap(NULL, (size_t)stat.st_size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE, fd, 0);
	if (base == MAP_FAILED)
		return -VMPI_EIO;
	*map = (struct vm_mapfile){ base, (size_t)stat.st_size };
	return 0;
}

int vm_mapfile_open(struct vm_mapfile *map, const char *path, size_t least)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int rc = -VMPI_EIO;

	if (fd < 0 && errno == ENOENT)
		return -VMPI_ENOENT;
	if (fd >= 0)
		rc = fd_map(map, fd, least);
	if (rc == -VMPI_EIO)
		vm_log(VM_ERROR, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return rc;
}

void vm_mapfile_close(struct vm_mapfile *map)
{
	if (map->base)
		munmap(map->base, map->bytes);
	*map = (struct vm_mapfile){ NULL, 0 };
}

void vm_mapped_root(const void *base, size_t bytes, bool there)
{
	if (there && __lsan_register_root_region)
		__lsan_register_root_region(base, bytes);
	if (!there && __lsan_unregister_root_region)
		__lsan_unregister_root_region(base, bytes);
}
