/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mapping and checking the files of profiles.
 */
#include "introspect/measure/profile_file.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mapfile.h"

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

int vm_profile_file_new(struct vm_profile_file **file, const char *dir,
			const struct vm_profile_file *head)
{
	struct vm_mapfile map;
	char path[PATH_BYTES];
	int rc;

	if (vm_profile_file_path(path, sizeof(path), dir, head->process)) {
		vm_log(VM_ERROR,
		       "the name of the directory %.60s... is too long", dir);
		return -VMPI_EIO;
	}
	rc = vm_mapfile_create(&map, dir[0] ? path : NULL, file_bytes(head),
			       false);
	if (rc)
		return rc;
	*file = map.base;
	memcpy(*file, head, sizeof(*head));
	(*file)->rank_bytes = sizeof(struct vm_profile);
	memcpy((*file)->magic, VM_PROFILE_MAGIC, sizeof((*file)->magic));
	return 0;
}

void vm_profile_file_free(struct vm_profile_file *file)
{
	if (file)
		vm_mapfile_close(
			&(struct vm_mapfile){ file, file_bytes(file) });
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
	    file->words < VM_PROFILE_OWN || file->words > VM_PROFILE_WORDS ||
	    file->workers > VM_PROFILE_WORKERS || file_bytes(file) != bytes ||
	    !vars_valid(file))
		return false;
	for (int i = 0; i < file->rank_count; i++)
		/* A rank that never began has nothing in it. */
		if (file->rank[i].rows && !vm_profile_valid(&file->rank[i]))
			return false;
	return true;
}

int vm_profile_file_read(struct vm_profile_file **file, const char *path)
{
	struct vm_mapfile map = { NULL, 0 };
	int rc = vm_mapfile_open(&map, path, sizeof(**file));

	if (!rc && file_valid(map.base, map.bytes)) {
		*file = map.base;
		return 0;
	}
	vm_mapfile_close(&map);
	if (rc && rc != -VMPI_EINVAL)
		return rc;
	vm_log(VM_ERROR, "%s: not a profile of this version of vmpi", path);
	return -VMPI_EINVAL;
}
