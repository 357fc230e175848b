/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting other programs with the environment of this one (environ.c), where
 * libc's functions would take that of the process.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image.h"

OURS(execv);
OURS(execvp);
OURS(execl);
OURS(execlp);
OURS(system);

int vm_image_execv(const char *path, char *const *argv)
{
	return LIBC(execve)(path, argv, __environ);
}

int vm_image_execvp(const char *file, char *const *argv)
{
	return LIBC(execvpe)(file, argv, __environ);
}

/* The words of execl() and execlp() as an array on the caller's stack. */
#define WORDS(argv, first)                              \
	va_list args;                                   \
	size_t count = 1;                               \
                                                        \
	va_start(args, first);                          \
	while (va_arg(args, char *))                    \
		count++;                                \
	va_end(args);                                   \
	char **argv = calloc(count + 1, sizeof(*argv)); \
                                                        \
	if (!argv)                                      \
		return -1;                              \
	va_start(args, first);                          \
	argv[0] = (char *)(size_t)first;                \
	for (size_t i = 1; i < count; i++)              \
		argv[i] = va_arg(args, char *);         \
	va_end(args)

int vm_image_execl(const char *path, const char *first, ...)
{
	WORDS(argv, first);
	LIBC(execve)(path, argv, __environ);
	free(argv);
	return -1;
}

int vm_image_execlp(const char *file, const char *first, ...)
{
	WORDS(argv, first);
	LIBC(execvpe)(file, argv, __environ);
	free(argv);
	return -1;
}

static int wait_for(pid_t pid)
{
	int status;

	while (LIBC(waitpid)(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/*
 * As libc's, but it does not ignore SIGINT and SIGQUIT meanwhile: that would be
 * for all ranks.
 */
int vm_image_system(const char *command)
{
	char *argv[] = { (char *)(size_t) "sh", (char *)(size_t) "-c",
			 (char *)(size_t)command, NULL };
	int error;
	pid_t pid;

	if (!command)
		return LIBC(access)("/bin/sh", X_OK) == 0;
	error = LIBC(posix_spawn)(&pid, "/bin/sh", NULL, NULL, argv, __environ);
	if (!error)
		return wait_for(pid);
	errno = error;
	return -1;
}
