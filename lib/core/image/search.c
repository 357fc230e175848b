/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As ld.so(8) says it, without the cache and the folders of the system.
 */
#include "core/image/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A folder of a list, $ORIGIN replaced, with the name added; NULL: no
 * memory. */
static char *candidate(const struct vm_elf *by, const char *folder,
		       size_t bytes, const char *name)
{
	static const char *const origins[] = { "$ORIGIN", "${ORIGIN}" };
	const char *slash = strrchr(by->path, '/');
	char *path = NULL;

	for (size_t i = 0; i < sizeof(origins) / sizeof(*origins); i++) {
		size_t length = strlen(origins[i]);

		if (bytes < length || strncmp(folder, origins[i], length) != 0)
			continue;
		if (asprintf(&path, "%.*s%.*s/%s", (int)(slash - by->path),
			     by->path, (int)(bytes - length), folder + length,
			     name) < 0)
			return NULL;
		return path;
	}
	if (asprintf(&path, "%.*s/%s", bytes ? (int)bytes : 1,
		     bytes ? folder : ".", name) < 0)
		return NULL;
	return path;
}

/* Looks through folders that are separated by colons, or semicolons. */
static char *list_search(const struct vm_elf *by, const char *list,
			 const char *name)
{
	while (list && *list) {
		size_t bytes = strcspn(list, ":;");
		char *path = candidate(by, list, bytes, name);

		if (path && !access(path, R_OK))
			return path;
		free(path);
		list += bytes + (list[bytes] != '\0');
	}
	return NULL;
}

static const char *list_of(const struct vm_elf *by, ElfW(Sxword) tag)
{
	ElfW(Xword) offset;

	return vm_elf_dynamic(by, tag, &offset) ? vm_elf_string(by, offset) :
						  NULL;
}

char *vm_image_search(const struct vm_elf *by, const char *name)
{
	const char *run = list_of(by, DT_RUNPATH);
	char *path = NULL;

	if (strchr(name, '/'))
		return access(name, R_OK) ? NULL : strdup(name);
	if (!run)
		path = list_search(by, list_of(by, DT_RPATH), name);
	if (!path)
		path = list_search(by, getenv("LD_LIBRARY_PATH"), name);
	return path ? path : list_search(by, run, name);
}
