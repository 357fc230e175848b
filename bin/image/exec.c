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

int execv(const char *path, char *const *argv)
{
	return execve(path, argv, environ);
}

int execvp(const char *file, char *const *argv)
{
	return execvpe(file, argv, environ);
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

int execl(const char *path, const char *first, ...)
{
	WORDS(argv, first);
	execve(path, argv, environ);
	free(argv);
	return -1;
}

int execlp(const char *file, const char *first, ...)
{
	WORDS(argv, first);
	execvpe(file, argv, environ);
	free(argv);
	return -1;
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/*
 * As libc's, but it does not ignore SIGINT and SIGQUIT meanwhile: that would be
 * for all ranks.
 */
int system(const char *command)
{
	char *argv[] = { (char *)(size_t) "sh", (char *)(size_t) "-c",
			 (char *)(size_t)command, NULL };
	int error;
	pid_t pid;

	if (!command)
		return access("/bin/sh", X_OK) == 0;
	error = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
	if (!error)
		return wait_for(pid);
	errno = error;
	return -1;
}
