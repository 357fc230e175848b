/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of the steps come through a pipe; the last one is that which was
 * being tried when the process ended.
 */
#include "core/libc/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/libc/trial.h"

extern char **environ;

/* Exit codes. */
enum {
	ALL_HOLD,
	ONE_DOES_NOT,
	CANNOT_TRY = 77, /* the library of the trial is not there */
};

const char *vm_probe_version(void)
{
	return gnu_get_libc_version();
}

/* Reads to the end and keeps the last whole line. */
static void last_line_read(int fd, char *line, size_t bytes)
{
	FILE *in = fdopen(fd, "r");
	char next[64];

	line[0] = '\0';
	while (in && fgets(next, sizeof(next), in)) {
		next[strcspn(next, "\n")] = '\0';
		snprintf(line, bytes, "%s", next);
	}
	if (in)
		fclose(in);
	else
		close(fd);
}

/* Starts the node program with its output to fd, and nothing to standard error:
 * a crash in libc says much. */
static bool node_start(pid_t *pid, const char *node, int fd)
{
	char *words[] = { (char *)(uintptr_t)node,
			  (char *)(uintptr_t)VM_PROBE_ARGUMENT, NULL };
	posix_spawn_file_actions_t actions;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
					 O_WRONLY, 0);
	error = posix_spawn(pid, node, &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return !error;
}

static const char *text_of(const char *name)
{
#define TEXT(step, text) { #step, text },
	static const struct {
		const char *name, *text;
	} steps[] = { VM_TRIALS(TEXT) };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!strcmp(steps[i].name, name))
			return steps[i].text;
	return NULL;
}

/* Whether the process has ended by itself, with an answer or in a crash or by its
 * own alarm: a signal that somebody has sent says nothing about the C library. */
static bool has_answered(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status) == ONE_DOES_NOT;
	switch (WTERMSIG(status)) {
	case SIGABRT:
	case SIGALRM:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGSEGV:
	case SIGSYS:
	case SIGTRAP:
		return true;
	default:
		return false;
	}
}

bool vm_probe_ask(const char *node, char *why, size_t bytes)
{
	char name[64];
	const char *text, *how = "";
	int pipes[2], status = 0;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		return true;
	if (!node_start(&pid, node, pipes[1])) {
		close(pipes[0]);
		close(pipes[1]);
		return true;
	}
	close(pipes[1]);
	last_line_read(pipes[0], name, sizeof(name));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return true;
	text = text_of(name);
	if (!text || !has_answered(status))
		return true;
	if (WIFSIGNALED(status))
		how = WTERMSIG(status) == SIGALRM ? " (trying it did not end)" :
						    " (trying it crashed)";
	snprintf(why, bytes, "glibc %s: %s%s", vm_probe_version(), text, how);
	return false;
}

int vm_probe_answer(const char *node)
{
	const struct rlimit none = { 0, 0 };
	const char *slash = strrchr(node, '/');
	char *path;
	int rc;

	setrlimit(RLIMIT_CORE, &none);
	alarm(VM_PROBE_SECONDS);
	if (!slash || asprintf(&path, "%.*s/" VM_TRIAL_LIBRARY,
			       (int)(slash - node), node) < 0)
		return CANNOT_TRY;
	rc = vm_trial_run(path, stdout);
	free(path);
	return rc < 0 ? CANNOT_TRY : rc ? ONE_DOES_NOT : ALL_HOLD;
}
