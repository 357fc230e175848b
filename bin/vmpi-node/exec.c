/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exec() without fork() replaces the process, and with it all ranks in it: the
 * job would end well without them.  So it ends with a sentence.  A child may
 * execute what it likes, and so may the only rank of a job, outside MPI.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/runtime/node.h"
#include "exe_path.h"
#include "introspect/export/export.h"
#include "real.h"
#include "unbind.h"

static void check(const char *function, const char *path)
{
	struct vm_rank *rank = vm_rank_self();
	bool open;

	if (!rank || !rank->image)
		return;
	if (!node_is_job()) { /* a child made by vfork() */
		unbind_begin();
		return;
	}
	open = rank->mpi_state &&
	       (rank->mpi_state(rank) == VM_RANK_MPI_OPEN ||
		rank->mpi_state(rank) == VM_RANK_MPI_SESSIONS);
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
	return REAL(execve)(exe_path_meant(path), argv, envp);
}

NODE_EXPORT int execvpe(const char *file, char *const *argv, char *const *envp)
{
	check("execvpe", file);
	return REAL(execvpe)(exe_path_meant(file), argv, envp);
}

NODE_EXPORT int execv(const char *path, char *const *argv)
{
	check("execv", path);
	return REAL(execv)(exe_path_meant(path), argv);
}

NODE_EXPORT int execvp(const char *file, char *const *argv)
{
	check("execvp", file);
	return REAL(execvp)(exe_path_meant(file), argv);
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
	return REAL(execveat)(fd, exe_path_meant(path), argv, envp, flags);
}

/* execl() and its like: the words after first are in rest, and behind their
 * NULL the environment, if it is given. */
static int exec_words(int (*exec)(const char *, char *const *, char *const *),
		      const char *file, const char *first, va_list *rest,
		      bool environment)
{
	size_t count = 0;
	va_list ahead;
	char **argv;

	va_copy(ahead, *rest);
	for (const char *word = first; word; count++)
		word = va_arg(ahead, const char *);
	va_end(ahead);
	argv = malloc((count + 1) * sizeof(*argv));
	if (!argv)
		return -1;
	argv[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; i <= count; i++)
		argv[i] = va_arg(*rest, char *);
	exec(file, argv, environment ? va_arg(*rest, char **) : environ);
	free(argv);
	return -1;
}

NODE_EXPORT int execl(const char *path, const char *first, ...)
{
	va_list rest;
	int rc;

	va_start(rest, first);
	rc = exec_words(execve, path, first, &rest, false);
	va_end(rest);
	return rc;
}

NODE_EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list rest;
	int rc;

	va_start(rest, first);
	rc = exec_words(execvpe, file, first, &rest, false);
	va_end(rest);
	return rc;
}

NODE_EXPORT int execle(const char *path, const char *first, ...)
{
	va_list rest;
	int rc;

	va_start(rest, first);
	rc = exec_words(execve, path, first, &rest, true);
	va_end(rest);
	return rc;
}
