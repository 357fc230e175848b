/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command of a job: a single command is vmpirun's program; several are
 * those of a shell, which each process runs and in which it finds its own by its
 * number.
 *
 * A shell in between makes vmpirun nobody's child, so that the program never
 * waits for a process that it has not started.
 */
#include "mpi/dynamic/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boot/job.h"
#include "mpi/call/errh.h"
#include "mpi/call/info.h"

extern char **environ;

/* Words that are added one by one; a lack of memory stays in it. */
struct words {
	char **list;
	size_t count;
	bool failed;
};

/* Takes the word over. */
static void word_take(struct words *words, char *word)
{
	char **more =
		realloc(words->list, (words->count + 2) * sizeof(*words->list));

	if (more)
		words->list = more;
	if (!more || !word) {
		words->failed = true;
		free(word);
		return;
	}
	words->list[words->count++] = word;
	words->list[words->count] = NULL;
}

static void word_add(struct words *words, const char *word)
{
	word_take(words, strdup(word));
}

static void words_free(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->list[i]);
	free(words->list);
}

/* A text that grows. */
static void text_add(struct vm_blob *text, const char *more)
{
	vm_blob_put(text, more, strlen(more));
}

/* As a shell reads it back. */
static void quoted_add(struct vm_blob *text, const char *word)
{
	text_add(text, "'");
	for (; *word; word++) {
		if (*word == '\'')
			text_add(text, "'\\''");
		else
			vm_blob_put(text, word, 1);
	}
	text_add(text, "' ");
}

/* The path of a command: one without a slash is looked for in the folders of the
 * key "path" and in PATH.  To be freed; NULL: it is not there. */
static char *path_find(const struct vm_spawn_command *command)
{
	const char *lists[] = { vm_info_value(command->info, "path"),
				getenv("PATH") };
	const char *folder = vm_spawn_folder(command->info);
	char *path = NULL;

	if (strchr(command->name, '/')) {
		/* A relative one is of the folder, or of here. */
		if (command->name[0] != '/' && folder &&
		    asprintf(&path, "%s/%s", folder, command->name) >= 0 &&
		    !access(path, X_OK))
			return realpath(path, NULL);
		return access(command->name, X_OK) ?
			       NULL :
			       realpath(command->name, NULL);
	}
	for (int i = 0; i < 2; i++) {
		for (const char *at = lists[i]; at && *at;) {
			int length = (int)strcspn(at, ":");

			if (asprintf(&path, "%.*s/%s", length, at,
				     command->name) < 0)
				return NULL;
			if (!access(path, X_OK))
				return path;
			free(path);
			at += length + (at[length] == ':');
		}
	}
	return NULL;
}

/* Calls add() for each line of the key "env". */
static void env_each(const struct vm_spawn_command *command,
		     void (*add)(void *to, char *line), void *to)
{
	const char *value = vm_info_value(command->info, "env");
	char *copy = value ? strdup(value) : NULL, *rest = copy, *line;

	while ((line = strsep(&rest, "\n")))
		if (strchr(line, '='))
			add(to, line);
	free(copy);
}

static void export_add(void *to, char *line)
{
	char *equals = strchr(line, '=');

	*equals = '\0';
	text_add(to, "export ");
	text_add(to, line);
	text_add(to, "=");
	quoted_add(to, equals + 1);
	text_add(to, "; ");
}

static void option_add(void *to, char *line)
{
	word_add(to, "-x");
	word_add(to, line);
}

/* What the processes of a command do, whose numbers are below `end`. */
static void branch_add(struct vm_blob *text,
		       const struct vm_spawn_command *command, const char *path,
		       int number, int end)
{
	const char *folder = vm_spawn_folder(command->info);
	char line[128];

	snprintf(line, sizeof(line),
		 "if [ ${PMI_RANK:-0} -lt %d ]; then "
		 "export " VM_JOB_PREFIX "APPNUM=%d; ",
		 end, number);
	text_add(text, line);
	env_each(command, export_add, text);
	if (folder) {
		text_add(text, "cd ");
		quoted_add(text, folder);
		text_add(text, "|| exit 1; ");
	}
	text_add(text, "exec ");
	quoted_add(text, path);
	for (char **word = command->arguments; word && *word; word++)
		quoted_add(text, *word);
	text_add(text, "; fi\n");
}

/* Whether vmpirun can take the command as it is. */
static bool is_plain(const struct vm_spawn_command *command)
{
	for (char **word = command->arguments; word && *word; word++)
		if (!strcmp(*word, ":"))
			return false;
	return true;
}

static void single_add(struct words *words,
		       const struct vm_spawn_command *command, char **paths)
{
	const char *folder = vm_spawn_folder(command->info);

	if (folder) {
		word_add(words, "-wdir");
		word_add(words, folder);
	}
	env_each(command, option_add, words);
	word_add(words, paths[0]);
	for (char **word = command->arguments; word && *word; word++)
		word_add(words, *word);
}

static void several_add(struct words *words,
			const struct vm_spawn_command *commands, int count,
			char **paths)
{
	struct vm_blob text = { 0 };
	int end = 0;

	for (int i = 0; i < count; i++) {
		end += commands[i].wanted;
		branch_add(&text, &commands[i], paths[i], i, end);
	}
	vm_blob_put(&text, "", 1);
	word_add(words, "--processes");
	word_add(words, "/bin/sh");
	word_add(words, "-c");
	word_take(words, text.failed ? NULL : strdup(text.data));
	vm_blob_free(&text);
}

/* The words of the shell that starts vmpirun. */
static int words_make(struct words *words,
		      const struct vm_spawn_command *commands, int count,
		      char **paths)
{
	char vmpirun[PATH_MAX], number[16];
	int total = 0, rc = vm_job_vmpirun_path(vmpirun, sizeof(vmpirun));

	if (rc)
		return rc;
	for (int i = 0; i < count; i++)
		total += commands[i].wanted;
	snprintf(number, sizeof(number), "%d", total);
	word_add(words, "/bin/sh");
	word_add(words, "-c");
	word_add(words, "\"$@\" </dev/null &");
	word_add(words, "sh");
	word_add(words, vmpirun);
	word_add(words, "-n");
	word_add(words, number);
	if (count == 1 && is_plain(&commands[0]))
		single_add(words, commands, paths);
	else
		several_add(words, commands, count, paths);
	return words->failed ? -VMPI_ENOMEM : 0;
}

/* The environment with the port and without what makes a process join a job. */
static int env_make(struct words *env, const char *port)
{
	char *parent;

	for (char **entry = environ; entry && *entry; entry++)
		if (strncmp(*entry, VM_JOB_PREFIX, strlen(VM_JOB_PREFIX)) &&
		    strncmp(*entry, "PMI_", 4) != 0 &&
		    strncmp(*entry, "PMIX_", 5) != 0)
			word_add(env, *entry);
	if (asprintf(&parent, VM_JOB_PREFIX "PARENT=%s", port) < 0)
		parent = NULL;
	word_take(env, parent);
	return env->failed ? -VMPI_ENOMEM : 0;
}

/* Starts the shell, in which no signal is blocked, and waits for its end; the end
 * of the pipe stays open there.  0 or an errno. */
static int shell_run(char **argv, char **env, int end)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int error, status;
	pid_t pid;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
						      POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	/* The same number: it is not closed then. */
	posix_spawn_file_actions_adddup2(&actions, end, end);
	error = posix_spawn(&pid, argv[0], &actions, &attributes, argv, env);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	while (!error && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return error;
}

static int vmpirun_start(struct vm_call *call,
			 const struct vm_spawn_command *commands, int count,
			 char **paths, const char *port, int *alive)
{
	struct words words = { 0 }, env = { 0 };
	int ends[2] = { -1, -1 }, error = 0;
	int rc = words_make(&words, commands, count, paths);

	if (!rc)
		rc = env_make(&env, port);
	if (!rc)
		error = pipe2(ends, O_CLOEXEC) ?
				errno :
				shell_run(words.list, env.list, ends[1]);
	words_free(&words);
	words_free(&env);
	if (ends[1] >= 0)
		close(ends[1]);
	*alive = ends[0];
	if (!rc && !error)
		return 0;
	if (ends[0] >= 0)
		close(ends[0]);
	return vm_error(call, MPI_ERR_SPAWN, "vmpirun cannot be started%s%s",
			error ? ": " : "", error ? strerror(error) : "");
}

int vm_start_command(struct vm_call *call,
		     const struct vm_spawn_command *commands, int count,
		     const char *port, int *alive)
{
	char **paths = calloc((size_t)count, sizeof(*paths));
	int rc = paths ? 0 : MPI_ERR_NO_MEM;

	for (int i = 0; i < count && rc == 0; i++) {
		paths[i] = path_find(&commands[i]);
		if (!paths[i])
			rc = vm_error(call, MPI_ERR_SPAWN,
				      "%s: there is no such program",
				      commands[i].name);
	}
	if (rc == 0)
		rc = vmpirun_start(call, commands, count, paths, port, alive);
	for (int i = 0; paths && i < count; i++)
		free(paths[i]);
	free(paths);
	return rc;
}
