/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mapping and checking the files of measures.
 */
#include "introspect/measure/overlap_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define PATH_BYTES 4096

static size_t file_bytes(const struct vm_overlap_file *head)
{
	return sizeof(*head) +
	       (size_t)head->rank_count * sizeof(struct vm_overlap);
}

int vm_overlap_file_path(char *path, size_t bytes, const char *dir, int process)
{
	int n = snprintf(path, bytes, "%s/process.%d.raw", dir, process);

	return n > 0 && (size_t)n < bytes ? 0 : -VMPI_EINVAL;
}

/* A new file of that size, or -1 and it is logged. */
static int file_make(const char *dir, const struct vm_overlap_file *head)
{
	char path[PATH_BYTES];
	int fd = -1;

	if (!vm_overlap_file_path(path, sizeof(path), dir, head->process))
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd >= 0 && ftruncate(fd, (off_t)file_bytes(head)) == 0)
		return fd;
	vm_log(VM_ERROR, "the measures of overlap in %s: %s", dir,
	       strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

int vm_overlap_file_new(struct vm_overlap_file **file, const char *dir,
			const struct vm_overlap_file *head)
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
	(*file)->rank_bytes = sizeof(struct vm_overlap);
	memcpy((*file)->magic, VM_OVERLAP_MAGIC, sizeof((*file)->magic));
	return 0;
}

void vm_overlap_file_free(struct vm_overlap_file *file)
{
	if (file)
		munmap(file, file_bytes(file));
}

static bool setup_valid(const struct vm_overlap_setup *setup)
{
	if (setup->bins < 1 || setup->bins > VM_OVERLAP_BINS ||
	    setup->edge[setup->bins - 1] != UINT64_MAX)
		return false;
	for (int way = 0; way < VM_PATHS; way++)
		if (setup->table.count[way] > VM_XFER_POINTS)
			return false;
	return true;
}

static bool file_valid(const struct vm_overlap_file *file, size_t bytes)
{
	return bytes >= sizeof(*file) &&
	       !memcmp(file->magic, VM_OVERLAP_MAGIC, sizeof(file->magic)) &&
	       file->rank_bytes == sizeof(struct vm_overlap) &&
	       file->rank_count > 0 && file->tick_ns > 0 &&
	       file_bytes(file) == bytes && setup_valid(&file->setup);
}

/* What a process that died in the middle may have left in a rank. */
static bool rank_mend(struct vm_overlap *rank)
{
	if (rank->used > VM_OVERLAP_RING ||
	    rank->sections > VM_OVERLAP_SECTIONS)
		return false;
	for (unsigned i = 0; i < rank->used; i++) {
		const struct vm_overlap_entry *entry = &rank->ring[i];

		if (entry->side >= VM_SIDES || entry->way >= VM_PATHS ||
		    entry->kind > VM_XFER_NONE ||
		    entry->section >= VM_OVERLAP_SECTIONS)
			return false;
	}
	for (unsigned i = 1; i < rank->sections; i++)
		if (rank->list[i].parent < 0 ||
		    rank->list[i].parent >= (int32_t)i)
			return false;
	return true;
}

static int not_one(struct vm_overlap_file *file, size_t bytes, const char *path)
{
	vm_log(VM_ERROR, "%s: no file of measures of this version of vmpi",
	       path);
	munmap(file, bytes);
	return -VMPI_EINVAL;
}

int vm_overlap_file_read(struct vm_overlap_file **file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct vm_overlap_file *map;
	struct stat stat;

	if (fd < 0 && errno == ENOENT)
		return -VMPI_ENOENT;
	if (fd < 0 || fstat(fd, &stat)) {
		vm_log(VM_ERROR, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -VMPI_EIO;
	}
	map = stat.st_size < (off_t)sizeof(*map) ?
		      MAP_FAILED :
		      mmap(NULL, (size_t)stat.st_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED) {
		vm_log(VM_ERROR, "%s: too short for measures of overlap", path);
		return -VMPI_EINVAL;
	}
	if (!file_valid(map, (size_t)stat.st_size))
		return not_one(map, (size_t)stat.st_size, path);
	for (int i = 0; i < map->rank_count; i++) {
		if (!rank_mend(&map->rank[i]))
			return not_one(map, (size_t)stat.st_size, path);
		map->rank[i].setup = &map->setup;
		vm_overlap_fold_dead(&map->rank[i]);
	}
	*file = map;
	return 0;
}
