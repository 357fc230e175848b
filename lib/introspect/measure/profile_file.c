/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mapping and checking the files of profiles.
 */
#include "introspect/measure/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define PATH_BYTES 4096

static size_t file_bytes(const struct vm_profile_file *head)
{
	return sizeof(*head) +
	       (size_t)head->rank_count * sizeof(struct vm_profile);
}

int vm_profile_file_path(char *path, size_t bytes, const char *dir, int process)
{
	int n = snprintf(path, bytes, "%s/profile.%d.raw", dir, process);

	return n > 0 && (size_t)n < bytes ? 0 : -VMPI_EINVAL;
}

/* A new file of that size, or -1 and it is logged. */
static int file_make(const char *dir, const struct vm_profile_file *head)
{
	char path[PATH_BYTES];
	int fd = -1;

	if (!vm_profile_file_path(path, sizeof(path), dir, head->process))
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0 && ftruncate(fd, (off_t)file_bytes(head)) == 0)
		return fd;
	vm_log(VM_ERROR, "the profile in %s: %s", dir, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

int vm_profile_file_new(struct vm_profile_file **file, const char *dir,
			const struct vm_profile_file *head)
{
	int fd = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *map;

	if (dir[0]) {
		fd = file_make(dir, head);
		if (fd < 0)
			return -VMPI_EIO;
		flags = MAP_SHARED;
	}
	map = mmap(NULL, file_bytes(head), PROT_READ | PROT_WRITE, flags, fd,
		   0);
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return -VMPI_ENOMEM;
	*file = map;
	memcpy(map, head, sizeof(*head));
	(*file)->rank_bytes = sizeof(struct vm_profile);
	memcpy((*file)->magic, VM_PROFILE_MAGIC, sizeof((*file)->magic));
	return 0;
}

void vm_profile_file_free(struct vm_profile_file *file)
{
	if (file)
		munmap(file, file_bytes(file));
}

static bool vars_valid(const struct vm_profile_file *file)
{
	for (uint32_t w = 0; w < file->words; w++)
		if (!memchr(file->vars[w].name, 0, VM_PROFILE_VAR_NAME) ||
		    !memchr(file->vars[w].unit, 0, VM_PROFILE_UNIT))
			return false;
	return true;
}

static bool file_valid(const struct vm_profile_file *file, size_t bytes)
{
	if (memcmp(file->magic, VM_PROFILE_MAGIC, sizeof(file->magic)) ||
	    file->rank_bytes != sizeof(struct vm_profile) ||
	    file->rank_count < 1 || !(file->tick_ns > 0) ||
	    file->words > VM_PROFILE_WORDS || file_bytes(file) != bytes ||
	    !vars_valid(file))
		return false;
	for (int i = 0; i < file->rank_count; i++)
		/* A rank that never began has nothing in it. */
		if (file->rank[i].rows && !vm_profile_valid(&file->rank[i]))
			return false;
	return true;
}

static int file_refuse(void *map, size_t bytes, const char *path)
{
	vm_log(VM_ERROR, "%s: no profile of this version of vmpi", path);
	if (map != MAP_FAILED)
		munmap(map, bytes);
	return -VMPI_EINVAL;
}

int vm_profile_file_read(struct vm_profile_file **file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *map = MAP_FAILED;
	struct stat stat;
	size_t bytes;

	if (fd < 0 && errno == ENOENT)
		return -VMPI_ENOENT;
	if (fd < 0 || fstat(fd, &stat)) {
		vm_log(VM_ERROR, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -VMPI_EIO;
	}
	bytes = (size_t)stat.st_size;
	if (bytes >= sizeof(**file))
		map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED || !file_valid(map, bytes))
		return file_refuse(map, bytes, path);
	*file = map;
	return 0;
}
