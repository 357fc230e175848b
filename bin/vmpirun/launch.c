/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is printed by --dry-run and what is run come from one walk over one
 * table each, so that they cannot differ.
 *
 * Process groups: the node process leads its own, so that vmpirun decides what
 * Ctrl-C does and can reach whatever the ranks have started.  Only when
 * standard input is a terminal does it stay in ours: a terminal stops whoever
 * reads from it in another group than the foreground's.
 */
#include "launch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "check.h"
#include "program.h"
#include "say.h"
#include "vmpi.h"

static int exports_set(const struct options *options)
{
	for (size_t i = 0; i < options->export_count; i++) {
		const char *equals = strchr(options->exports[i], '=');
		char *name = strndup(options->exports[i],
				     (size_t)(equals - options->exports[i]));
		int rc = name ? setenv(name, equals + 1, 1) : -1;

		free(name);
		if (rc) {
			say("-x %s: %s", options->exports[i], strerror(errno));
			return -VMPI_ENOMEM;
		}
	}
	return 0;
}

int launch_check(struct launch *launch, struct options *options)
{
	char node[PATH_MAX];
	char *origin = getcwd(NULL, 0);
	int rc;

	*launch = (struct launch){ .options = options };
	rc = exports_set(options);
	if (!rc)
		rc = check_settings(options->job.set);
	/* Before the change of directory: VMPI_NODE may be relative. */
	if (!rc)
		rc = vm_job_node_path(node, sizeof(node));
	if (!rc && options->wdir)
		rc = check_wdir(options->wdir);
	if (!rc)
		rc = program_find(&launch->program, options->program[0],
				  origin ? origin : ".");
	if (!rc && options->job.output_dir && !options->dry_run)
		rc = check_output(options->job.output_dir);
	if (!rc && !(launch->node = strdup(node))) {
		say("out of memory");
		rc = -VMPI_ENOMEM;
	}
	free(origin);
	return rc;
}

void launch_fini(struct launch *launch)
{
	free(launch->node);
	free(launch->program);
}

/* A word as the shell reads it back: quoted unless it is plain. */
static void word_print(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";

	if (word[0] && !word[strspn(word, plain)]) {
		fputs(word, stdout);
		return;
	}
	putchar('\'');
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*word);
	putchar('\'');
}

static int unset_print(const char *name, const char *value, void *arg)
{
	if (!value && getenv(name))
		printf(" -u %s", name);
	return 0;
}

static int assignment_print(const char *name, const char *value, void *arg)
{
	if (value) {
		printf(" %s=", name);
		word_print(value);
	}
	return 0;
}

int launch_print(const struct launch *launch)
{
	const struct options *options = launch->options;
	int rc;

	if (options->wdir) {
		fputs("cd ", stdout);
		word_print(options->wdir);
		fputs(" && ", stdout);
	}
	fputs("env", stdout);
	rc = vm_job_each(&options->job, unset_print, NULL);
	for (size_t i = 0; i < options->export_count; i++) {
		putchar(' ');
		word_print(options->exports[i]);
	}
	if (!rc)
		rc = vm_job_each(&options->job, assignment_print, NULL);
	putchar(' ');
	word_print(launch->node);
	putchar(' ');
	word_print(launch->program);
	for (char **word = options->program + 1; *word; word++) {
		putchar(' ');
		word_print(*word);
	}
	putchar('\n');
	if (fflush(stdout) || ferror(stdout)) {
		say("standard output: %s", strerror(errno));
		return -VMPI_EIO;
	}
	return rc;
}

static _Noreturn void node_exec(const struct launch *launch, pid_t parent,
				char **words, const sigset_t *signals)
{
	if (launch->own_group)
		setpgid(0, 0);
	else
		signal(SIGINT, SIG_IGN); /* the terminal's; vmpirun decides */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Had vmpirun died before that call, nobody would tell us. */
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	if (vm_job_to_env(&launch->options->job))
		_exit(EXIT_FAILURE);
	sigprocmask(SIG_SETMASK, signals, NULL);
	execv(launch->node, words);
	say("%s: the node program cannot be started: %s", launch->node,
	    strerror(errno));
	_exit(EXIT_MISTAKE);
}

/* The command line of the node process; only the array is allocated. */
static char **words_make(const struct launch *launch)
{
	char **given = launch->options->program;
	size_t count = 0;
	char **words;

	while (given[count])
		count++;
	words = calloc(count + 2, sizeof(char *));
	if (!words)
		return NULL;
	words[0] = launch->node;
	words[1] = launch->program;
	for (size_t i = 1; i < count; i++)
		words[i + 1] = given[i];
	return words;
}

int launch_start(struct launch *launch, const sigset_t *signals)
{
	pid_t parent = getpid();
	char **words = words_make(launch);

	if (!words) {
		say("out of memory");
		return -VMPI_ENOMEM;
	}
	launch->own_group = !isatty(STDIN_FILENO);
	launch->pid = fork();
	if (launch->pid == 0)
		node_exec(launch, parent, words, signals);
	free(words);
	if (launch->pid < 0) {
		say("the node process cannot be started: fork: %s",
		    strerror(errno));
		return -VMPI_ELIMIT;
	}
	/* Here too, so that it is true when launch_start() returns; after the
	 * child's exec it fails, and then the child has done it. */
	if (launch->own_group)
		setpgid(launch->pid, launch->pid);
	return 0;
}
