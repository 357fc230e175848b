/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mapping and checking the files of measures.
 */
#include "introspect/measure/overlap_file.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mapfile.h"

#define PATH_BYTES 4096
#define PROCESSES_MAX 1000000

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

int vm_overlap_file_new(struct vm_overlap_file **file, const char *dir,
			const struct vm_overlap_file *head)
{
	struct vm_mapfile map;
	char path[PATH_BYTES];
	int rc;

	if (vm_overlap_file_path(path, sizeof(path), dir, head->process)) {
		vm_log(VM_ERROR,
		       "the name of the directory %.60s... is too long", dir);
		return -VMPI_EIO;
	}
	rc = vm_mapfile_create(&map, dir[0] ? path : NULL, file_bytes(head),
			       true);
	if (rc)
		return rc;
	*file = map.base;
	memcpy(*file, head, sizeof(*head));
	(*file)->rank_bytes = sizeof(struct vm_overlap);
	memcpy((*file)->magic, VM_OVERLAP_MAGIC, sizeof((*file)->magic));
	return 0;
}

void vm_overlap_file_free(struct vm_overlap_file *file)
{
	if (file)
		vm_mapfile_close(
			&(struct vm_mapfile){ file, file_bytes(file) });
}

static bool setup_valid(const struct vm_overlap_setup *setup)
{
	if (setup->bins < 1 || setup->bins > VM_OVERLAP_BINS ||
	    setup->edge[setup->bins - 1] != UINT64_MAX)
		return false;
	for (int path = 0; path < VM_PATHS; path++)
		if (setup->table.count[path] > VM_XFER_POINTS)
			return false;
	return true;
}

static bool file_valid(const struct vm_overlap_file *file, size_t bytes)
{
	return bytes >= sizeof(*file) &&
	       !memcmp(file->magic, VM_OVERLAP_MAGIC, sizeof(file->magic)) &&
	       file->rank_bytes == sizeof(struct vm_overlap) &&
	       file->rank_count > 0 && file->tick_ns > 0 &&
	       file->processes <= PROCESSES_MAX && file_bytes(file) == bytes &&
	       setup_valid(&file->setup);
}

/* Repairs a rank of a process that died in the middle of an update. */
static bool rank_mend(struct vm_overlap *rank)
{
	if (rank->used > VM_OVERLAP_RING ||
	    rank->sections > VM_OVERLAP_SECTIONS)
		return false;
	for (unsigned i = 0; i < rank->used; i++) {
		const struct vm_overlap_entry *entry = &rank->ring[i];

		if (entry->side >= VM_SIDES || entry->path >= VM_PATHS ||
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

/* Checks what is mapped and folds it; false: it is no file of measures. */
static bool file_fold(struct vm_overlap_file *file, size_t bytes)
{
	if (!file_valid(file, bytes))
		return false;
	for (int i = 0; i < file->rank_count; i++) {
		if (!rank_mend(&file->rank[i]))
			return false;
		file->rank[i].setup = &file->setup;
		vm_overlap_fold_dead(&file->rank[i]);
	}
	return true;
}

int vm_overlap_file_read(struct vm_overlap_file **file, const char *path)
{
	struct vm_mapfile map = { NULL, 0 };
	int rc = vm_mapfile_open(&map, path, sizeof(**file));

	if (!rc && file_fold(map.base, map.bytes)) {
		*file = map.base;
		return 0;
	}
	vm_mapfile_close(&map);
	if (rc && rc != -VMPI_EINVAL)
		return rc;
	vm_log(VM_ERROR,
	       "%s: not a file of overlap measurements of this version "
	       "of vmpi",
	       path);
	return -VMPI_EINVAL;
}
