/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the file is a program for vmpi is the loader's question; here it only
 * has to be there and to be executable.
 */
#include "program.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say.h"
#include "vmpi.h"

/* 0, or the errno that execve() would give. */
static int program_check(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return errno;
	if (S_ISDIR(status.st_mode))
		return EISDIR;
	return access(path, X_OK) ? errno : 0;
}

static int no_memory(void)
{
	say("out of memory");
	return -VMPI_ENOMEM;
}

static void refuse(const char *name, int error)
{
	if (error == ENOENT)
		say("%s: there is no such program", name);
	else if (error == EISDIR)
		say("%s: this is a directory, not a program", name);
	else if (error == EACCES)
		say("%s: this file may not be executed (chmod +x?)", name);
	else
		say("%s: %s", name, strerror(error));
}

static int path_take(char **path, const char *name, const char *origin)
{
	char *there = NULL;
	int error = program_check(name);

	if (error == ENOENT && name[0] != '/') {
		if (asprintf(&there, "%s/%s", origin, name) < 0)
			return no_memory();
		if (program_check(there) == 0) {
			*path = there;
			return 0;
		}
		free(there);
	}
	if (error) {
		refuse(name, error);
		return -VMPI_ENOENT;
	}
	*path = strdup(name);
	return *path ? 0 : no_memory();
}

/* The directories of PATH, an empty one being the current directory. */
static int path_search(char **path, const char *name, const char *directories)
{
	int worst = ENOENT;
	size_t length;

	for (const char *at = directories;; at += length + 1) {
		char *candidate;
		int error;

		length = strcspn(at, ":");
		if (asprintf(&candidate, "%.*s%s%s", (int)length, at,
			     length ? "/" : "./", name) < 0)
			return no_memory();
		error = program_check(candidate);
		if (!error) {
			*path = candidate;
			return 0;
		}
		free(candidate);
		if (error == EACCES)
			worst = error;
		if (!at[length])
			break;
	}
	if (worst == EACCES)
		refuse(name, worst);
	else
		say("%s: there is no such program in PATH%s%s", name,
		    program_check(name) ? "" : "; did you mean ./",
		    program_check(name) ? "" : name);
	return -VMPI_ENOENT;
}

int program_find(char **path, const char *name, const char *origin)
{
	const char *directories = getenv("PATH");
	char standard[256];

	if (!name[0]) {
		say("the name of the program is empty");
		return -VMPI_ENOENT;
	}
	if (strchr(name, '/'))
		return path_take(path, name, origin);
	if (!directories) {
		confstr(_CS_PATH, standard, sizeof(standard));
		directories = standard;
	}
	return path_search(path, name, directories);
}
