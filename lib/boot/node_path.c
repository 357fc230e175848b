/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paths of the node program and of vmpirun.
 *
 * Everything must work from the build directory, from an installation, and from
 * an installation that was moved, so places relative to the caller come before
 * the configured one.  The caller is vmpirun (its executable) or a program with
 * the library inside (the library's file).
 */
#include "boot/job.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"

/* The configured place; VM_LIBEXECDIR comes from meson. */
#define INSTALLED VM_LIBEXECDIR "/vmpi-node"

/* Tried in this order, from the directory of the executable or library. */
static const char *const places[] = {
	"vmpi-node",			/* beside: the node program itself */
	"../vmpi-node/vmpi-node",	/* build/bin/vmpirun */
	"../bin/vmpi-node/vmpi-node",	/* build/lib */
	"../libexec/vmpi/vmpi-node",	/* PREFIX/bin, PREFIX/lib */
	"../../libexec/vmpi/vmpi-node", /* PREFIX/lib/x86_64-linux-gnu */
};

#define PLACES (sizeof(places) / sizeof(*places))

/* From the directory of the library, or of the node program. */
static const char *const vmpirun_places[] = {
	"../bin/vmpirun/vmpirun", /* build/lib */
	"../vmpirun/vmpirun",	  /* build/bin/vmpi-node */
	"../bin/vmpirun",	  /* PREFIX/lib */
	"../../bin/vmpirun", /* PREFIX/lib/x86_64-linux-gnu, libexec/vmpi */
};

/* Sets errno when it is not.  A directory may be "executable" as well. */
static bool runnable(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return false;
	if (!S_ISREG(status.st_mode)) {
		errno = EACCES;
		return false;
	}
	return access(path, X_OK) == 0;
}

/* Writes path in its shortest form; it exists. */
static int path_give(char *path, size_t bytes, const char *found)
{
	char *real = realpath(found, NULL);
	int length = snprintf(path, bytes, "%s", real ? real : found);

	free(real);
	if (length >= 0 && (size_t)length < bytes)
		return 0;
	vm_log(VM_ERROR, "%s: the path of this program is too long", found);
	return -VMPI_ELIMIT;
}

/* The executable of this process, as the kernel says: the node program's
 * readlink() answers a rank with the rank's program. */
static char *own_executable(void)
{
	char target[PATH_MAX];
	long n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", target,
			 sizeof(target) - 1);

	if (n < 0)
		return NULL;
	target[n] = '\0';
	return strdup(target);
}

/* Tries the places near `file`, NULL: this executable.  -VMPI_ENOENT, not logged,
 * when none has it. */
static int near_find(char *path, size_t bytes, const char *file,
		     const char *const *list, size_t count)
{
	char *real = file ? realpath(file, NULL) : own_executable();
	char *slash = real ? strrchr(real, '/') : NULL;
	int rc = -VMPI_ENOENT;

	if (slash)
		*slash = '\0';
	for (size_t i = 0; slash && i < count; i++) {
		char candidate[PATH_MAX];
		int length = snprintf(candidate, sizeof(candidate), "%s/%s",
				      real, list[i]);

		if (length < 0 || (size_t)length >= sizeof(candidate) ||
		    !runnable(candidate))
			continue;
		rc = path_give(path, bytes, candidate);
		break;
	}
	free(real);
	return rc;
}

int vm_job_node_path(char *path, size_t bytes)
{
	const char *given = getenv("VMPI_NODE");
	Dl_info self;
	int rc;

	if (given && given[0]) {
		if (runnable(given))
			return path_give(path, bytes, given);
		vm_log(VM_ERROR, "VMPI_NODE=%s: %s; it names the node program",
		       given, strerror(errno));
		return -VMPI_ENOENT;
	}
	rc = near_find(path, bytes, NULL, places, PLACES);
	/* In libvmpi.so this names the library, else the executable again. */
	if (rc == -VMPI_ENOENT &&
	    dladdr((void *)(uintptr_t)&vm_job_node_path, &self))
		rc = near_find(path, bytes, self.dli_fname, places, PLACES);
	if (rc == -VMPI_ENOENT && runnable(INSTALLED))
		rc = path_give(path, bytes, INSTALLED);
	if (rc == -VMPI_ENOENT)
		vm_log(VM_ERROR,
		       "the node program vmpi-node is neither near this program "
		       "(../libexec/vmpi) nor at " INSTALLED
		       "; set VMPI_NODE to its path");
	return rc;
}

int vm_job_vmpirun_path(char *path, size_t bytes)
{
	const size_t count = sizeof(vmpirun_places) / sizeof(*vmpirun_places);
	Dl_info self;
	int rc = -VMPI_ENOENT;

	/* The node program has the user's program as its first argument. */
	if (dladdr((void *)(uintptr_t)&vm_job_vmpirun_path, &self))
		rc = near_find(path, bytes, self.dli_fname, vmpirun_places,
			       count);
	if (rc == -VMPI_ENOENT)
		rc = near_find(path, bytes, NULL, vmpirun_places, count);
	if (rc == -VMPI_ENOENT)
		vm_log(VM_ERROR, "vmpirun, which starts processes, is not near "
				 "the library of vmpi");
	return rc;
}
