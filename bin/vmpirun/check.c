/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Found here, a mistake costs one line; found by the node process, it would
 * cost a started job.
 */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/rank/vars.h"
#include "introspect/vars/cvar.h"
#include "mpi/call/vars.h"
#include "report/cli.h"
#include "vmpi.h"

int check_settings(const char *set)
{
	char *lines = set ? strdup(set) : NULL;
	char *rest = lines;
	char *line;
	int rc = 0;

	if (!set)
		return 0;
	if (!lines) {
		return vm_cli_no_memory();
	}
	vm_core_vars_add();
	vm_mpi_vars_add();
	while (!rc && (line = strsep(&rest, "\n"))) {
		char *value = strchr(line, '=');

		*value++ = '\0';
		rc = vm_cvar_set(line, value, VM_SOURCE_COMMAND);
	}
	free(lines);
	return rc;
}

/* The word that should be the program. */
int check_not_program(const char *option, const char *path)
{
	struct stat status;

	if (stat(path, &status) || !S_ISREG(status.st_mode) ||
	    access(path, X_OK))
		return 0;
	vm_cli_say("%s %s: that is a program, which would be overwritten; a "
		   "name is needed before it",
		   option, path);
	return -VMPI_EINVAL;
}

static int output_refuse(const char *directory, int error)
{
	vm_cli_say("--output %s: %s", directory, strerror(error));
	return -VMPI_EIO;
}

int check_output(const char *directory)
{
	char path[PATH_MAX];
	struct stat status;
	int length = snprintf(path, sizeof(path), "%s/", directory);

	if (length < 0 || (size_t)length >= sizeof(path))
		return output_refuse(directory, ENAMETOOLONG);
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(path, 0777) && errno != EEXIST)
			return output_refuse(directory, errno);
		*slash = '/';
	}
	if (stat(path, &status))
		return output_refuse(directory, errno);
	if (access(path, W_OK | X_OK))
		return output_refuse(directory, errno);
	return 0;
}

static int wdir_refuse(const char *directory)
{
	vm_cli_say("-wdir %s: %s", directory, strerror(errno));
	return -VMPI_ENOENT;
}

int check_enter(const char *directory)
{
	int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return wdir_refuse(directory);
	close(fd);
	return access(directory, X_OK) ? wdir_refuse(directory) : 0;
}

int check_wdir(const char *directory)
{
	char *here;

	if (chdir(directory))
		return wdir_refuse(directory);
	/* As a shell's cd: programs may believe PWD. */
	here = getcwd(NULL, 0);
	if (here)
		setenv("PWD", here, 1);
	free(here);
	return 0;
}
