/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exec() without fork() replaces the process, and with it all ranks in it: the
 * job would end well without them.  So it ends with a sentence.  A child may
 * execute what it likes, and so may the only rank of a job, outside MPI.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/runtime/node.h"
#include "introspect/export/export.h"
#include "real.h"

static void check(const char *function, const char *path)
{
	struct vm_rank *rank = vm_rank_self();
	bool open;

	if (!rank || !rank->image || !node_is_job())
		return;
	open = rank->mpi_state && rank->mpi_state(rank) == 1;
	if (node.boot->ranks > 1 || open)
		vm_node_abort(1,
			      "rank %d called %s(\"%s\"), which would replace "
			      "the process of its %d rank%s%s; call fork() "
			      "first, or posix_spawn()",
			      rank->index, function, path, node.ranks,
			      node.ranks == 1 ? "" : "s",
			      open ? " before MPI_Finalize" : "");
	/* What tools find under this process's number is not the program's. */
	vm_export_remove();
}

NODE_EXPORT int execve(const char *path, char *const *argv, char *const *envp)
{
	check("execve", path);
	return REAL(execve)(path, argv, envp);
}

NODE_EXPORT int execvpe(const char *file, char *const *argv, char *const *envp)
{
	check("execvpe", file);
	return REAL(execvpe)(file, argv, envp);
}

NODE_EXPORT int execv(const char *path, char *const *argv)
{
	check("execv", path);
	return REAL(execv)(path, argv);
}

NODE_EXPORT int execvp(const char *file, char *const *argv)
{
	check("execvp", file);
	return REAL(execvp)(file, argv);
}

NODE_EXPORT int fexecve(int fd, char *const *argv, char *const *envp)
{
	check("fexecve", "");
	return REAL(fexecve)(fd, argv, envp);
}

extern int execveat(int fd, const char *path, char *const *argv,
		    char *const *envp, int flags);

NODE_EXPORT int execveat(int fd, const char *path, char *const *argv,
			 char *const *envp, int flags)
{
	check("execveat", path);
	return REAL(execveat)(fd, path, argv, envp, flags);
}

/* The words of execl() and its like; *rest is left behind them.  NULL: out of
 * memory. */
static char **words(const char *first, va_list *rest)
{
	size_t count = 0, room = 0;
	char **list = NULL, *word = (char *)(uintptr_t)first;

	for (;; word = va_arg(*rest, char *)) {
		if (count == room) {
			char **more;

			room = room ? 2 * room : 16;
			more = realloc(list, room * sizeof(*list));
			if (!more) {
				free(list);
				return NULL;
			}
			list = more;
		}
		list[count++] = word;
		if (!word)
			return list;
	}
}

NODE_EXPORT int execl(const char *path, const char *first, ...)
{
	char **argv;
	va_list rest;

	va_start(rest, first);
	argv = words(first, &rest);
	va_end(rest);
	if (argv)
		execve(path, argv, environ);
	free(argv);
	return -1;
}

NODE_EXPORT int execlp(const char *file, const char *first, ...)
{
	char **argv;
	va_list rest;

	va_start(rest, first);
	argv = words(first, &rest);
	va_end(rest);
	if (argv)
		execvpe(file, argv, environ);
	free(argv);
	return -1;
}

NODE_EXPORT int execle(const char *path, const char *first, ...)
{
	char **argv, **envp;
	va_list rest;

	va_start(rest, first);
	argv = words(first, &rest);
	envp = argv ? va_arg(rest, char **) : NULL;
	va_end(rest);
	if (argv)
		execve(path, argv, envp);
	free(argv);
	return -1;
}
