/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On how many processors processes may run that a rank starts, in each way; and
 * the rank itself, before and after, which is bound to its worker's core.
 * Argument "own": by a program that has bound itself to one processor.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char command[] = "nproc";
static char *words[] = { "sh", "-c", command, NULL };

static int count(void)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	return CPU_COUNT(&set);
}

static void with_popen(void)
{
	FILE *file = popen(command, "r");
	char line[64];

	if (file && fgets(line, sizeof(line), file))
		fputs(line, stdout);
	if (file)
		pclose(file);
}

static void start(const char *how, pid_t (*child)(void))
{
	pid_t pid;

	printf("%s ", how);
	fflush(stdout);
	pid = child();
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static pid_t with_system(void)
{
	return system(command) ? 0 : -1;
}

static pid_t with_spawn(void)
{
	pid_t pid;

	return posix_spawn(&pid, "/bin/sh", NULL, NULL, words, environ) ? -1 :
									  pid;
}

static pid_t with_spawnp(void)
{
	pid_t pid;

	return posix_spawnp(&pid, "sh", NULL, NULL, words, environ) ? -1 : pid;
}

static pid_t with_fork(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		printf("%d\n", count());
		fflush(stdout);
		_exit(0);
	}
	return pid;
}

static pid_t with_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execv("/bin/sh", words);
		_exit(1);
	}
	return pid;
}

/* To the last processor that the process may use. */
static void bind_to_last(void)
{
	cpu_set_t all, last;

	sched_getaffinity(getpid(), sizeof(all), &all);
	CPU_ZERO(&last);
	for (int i = CPU_SETSIZE - 1; i >= 0 && !CPU_COUNT(&last); i--)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &last);
	sched_setaffinity(0, sizeof(last), &last);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		bind_to_last();
	printf("before %d\n", count());
	start("system", with_system);
	start("spawn", with_spawn);
	start("spawnp", with_spawnp);
	start("fork", with_fork);
	start("vfork", with_vfork);
	printf("popen ");
	with_popen();
	printf("after %d\n", count());
	return 0;
}
