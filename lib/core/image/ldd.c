/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that change the user when they are started (set-user-ID) do not
 * answer: the dynamic linker ends them.
 */
#include "core/image/ldd.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Everything a command prints; NULL on an error (errno). */
static char *output_read(int fd)
{
	size_t used = 0, room = 4096;
	char *text = malloc(room);

	while (text) {
		ssize_t n = read(fd, text + used, room - used - 1);
		char *more;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
		if (used < room - 1)
			continue;
		more = realloc(text, room *= 2);
		if (!more)
			free(text);
		text = more;
	}
	if (text)
		text[used] = '\0';
	return text;
}

/* The environment with the dynamic linker's question added; free() it. */
static char **trace_environ(bool preloaded)
{
	static const char question[] = "LD_TRACE_LOADED_OBJECTS=1";
	size_t count = 0, kept = 0;
	char **copy;

	while (environ[count])
		count++;
	copy = malloc((count + 2) * sizeof(*copy));
	if (!copy)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (preloaded || strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
			copy[kept++] = environ[i];
	copy[kept++] = (char *)(uintptr_t)question;
	copy[kept] = NULL;
	return copy;
}

/* Whether the program is started by glibc's dynamic linker. */
static bool is_answered(const struct vm_elf *program)
{
	const ElfW(Phdr) *interp = vm_elf_segment(program, PT_INTERP);
	const char *path, *slash;

	if (!interp || !interp->p_filesz ||
	    !(path = vm_elf_at(program, interp->p_vaddr, interp->p_filesz)) ||
	    path[interp->p_filesz - 1])
		return false;
	slash = strrchr(path, '/');
	return !strncmp(slash ? slash + 1 : path, "ld-linux", 8);
}

char *vm_ldd_run(const struct vm_elf *program, bool preloaded)
{
	char *words[] = { program->path, NULL };
	posix_spawn_file_actions_t actions;
	char *text = NULL, **envp;
	int pipes[2], status;
	pid_t pid;

	if (!is_answered(program)) {
		errno = ENOEXEC;
		return NULL;
	}
	envp = trace_environ(preloaded);
	if (!envp)
		return NULL;
	if (pipe2(pipes, O_CLOEXEC)) {
		free(envp);
		return NULL;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
	errno = posix_spawn(&pid, program->path, &actions, NULL, words, envp);
	close(pipes[1]);
	if (!errno) {
		text = output_read(pipes[0]);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(pipes[0]);
	posix_spawn_file_actions_destroy(&actions);
	free(envp);
	return text;
}

bool vm_ldd_next(const char **at, char *name, size_t bytes)
{
	const char *line = *at;
	size_t length;

	if (!line || !*line)
		return false;
	line += strspn(line, " \t");
	length = strcspn(line, " \n");
	snprintf(name, bytes, "%.*s", (int)length, line);
	line += strcspn(line, "\n");
	*at = line + (*line == '\n');
	return true;
}
