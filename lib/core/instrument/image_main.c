/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry of a program built with vmpicc that is started directly.
 *
 * The kernel started the program, but a rank needs the node program around it:
 * this process becomes the node program, with a job of one rank.  The program's
 * own constructors have not run yet (the dynamic linker leaves those of the
 * main program to the C start-up code, which we do not have).
 */
#include "core/instrument/image_main.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/log.h"
#include "boot/job.h"

/* The file that runs: as it was given to execve() while that leads there. */
static const char *program_path(void)
{
	const char *path = (const char *)getauxval(AT_EXECFN);
	char *real = path ? realpath(path, NULL) : NULL;
	char *running = realpath("/proc/self/exe", NULL);
	const char *use = path;

	if (!real || (running && strcmp(real, running)))
		use = running;
	else
		free(running);
	free(real);
	return use;
}

_Noreturn void vmpi_image_main(int argc, char **argv)
{
	const char *path = program_path();
	char node[PATH_MAX];

	if (!argc || !path || setenv(VM_IMAGE_VARIABLE, path, 1)) {
		vm_log(VM_ERROR, "%s: cannot be started: %s",
		       argc ? argv[0] : "the program",
		       !argc ? "it has no arguments" :
		       path  ? strerror(errno) :
			       "its file is not found");
		_exit(EXIT_FAILURE);
	}
	if (vm_job_node_path(node, sizeof(node)))
		_exit(2);
	execv(node, argv);
	vm_log(VM_ERROR, "%s: cannot be started: %s", node, strerror(errno));
	_exit(EXIT_FAILURE);
}
