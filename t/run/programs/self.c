/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that looks at itself.  Prints "ok" or what is wrong; with an argument
 * "quick" it ends by quick_exit(), whose handlers print, and with "again" it is one
 * that was started by itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, failed;

static void check(bool good, const char *what)
{
	if (good)
		return;
	printf("rank %d: wrong: %s\n", rank, what);
	failed = 1;
}

/* The executable as a file, by this name of the link to it. */
static void file(const char *link, const char *program)
{
	struct stat own, status;
	struct statx extended;
	FILE *stream = fopen(link, "r");
	int fd = open(link, O_RDONLY);

	check(!stat(program, &own), "stat of the program");
	check(stream && !fstat(fileno(stream), &status) &&
		      status.st_ino == own.st_ino,
	      "fopen");
	check(fd >= 0 && !fstat(fd, &status) && status.st_ino == own.st_ino,
	      "open");
	check(!stat(link, &status) && status.st_ino == own.st_ino, "stat");
	check(!statx(AT_FDCWD, link, 0, STATX_INO, &extended) &&
		      extended.stx_ino == own.st_ino,
	      "statx");
	check(!fstatat(AT_FDCWD, link, &status, 0) &&
		      status.st_ino == own.st_ino,
	      "fstatat");
	check(!lstat(link, &status) && S_ISLNK(status.st_mode), "lstat");
	check(!access(link, X_OK), "access");
	if (stream)
		fclose(stream);
	close(fd);
}

static void again(const char *link)
{
	char *words[] = { (char *)(size_t)link, (char *)"again", NULL };
	extern char **environ;
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		execv(link, words);
		_exit(99);
	}
	check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		      WEXITSTATUS(status) == 42,
	      "execv");
	check(!posix_spawn(&pid, link, NULL, NULL, words, environ) &&
		      waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		      WEXITSTATUS(status) == 42,
	      "posix_spawn");
}

static void names(const char *program, int argc, char **argv)
{
	char text[4096] = "", *at = text;
	FILE *stream = fopen("/proc/self/cmdline", "r");
	size_t bytes = stream ? fread(text, 1, sizeof(text) - 1, stream) : 0;
	struct stat own, status;

	check(bytes > 0 && !strcmp(text + bytes - strlen(argv[argc - 1]) - 1,
				   argv[argc - 1]),
	      "the end of cmdline");
	for (int i = 0; i < argc; i++, at += strlen(at) + 1)
		check(!strcmp(at, argv[i]), "cmdline");
	if (stream)
		fclose(stream);
	check(!strcmp(program_invocation_name, argv[0]), "invocation_name");
	check(!stat((char *)getauxval(AT_EXECFN), &status) &&
		      !stat(program, &own) && status.st_ino == own.st_ino,
	      "AT_EXECFN");
}

static void stack(void)
{
	pthread_attr_t attr;
	size_t bytes;
	void *base;

	check(!pthread_getattr_np(pthread_self(), &attr) &&
		      !pthread_attr_getstack(&attr, &base, &bytes) &&
		      (char *)&attr > (char *)base &&
		      (char *)&attr < (char *)base + bytes,
	      "the stack");
	pthread_attr_destroy(&attr);
}

static void *stack_of_thread(void *arg)
{
	stack();
	return arg;
}

static void first(void)
{
	printf("rank %d first\n", rank);
}

static void last(void)
{
	printf("rank %d last\n", rank);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char program[4096], own[64];
	pthread_t thread;

	if (argc > 1 && !strcmp(argv[1], "again"))
		return 42;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc > 1 && !strcmp(argv[1], "quick")) {
		at_quick_exit(last);
		at_quick_exit(first);
		MPI_Finalize();
		quick_exit(0);
	}
	check(realpath(argv[0], program), "argv[0]");
	snprintf(own, sizeof(own), "/proc/%d/exe", (int)getpid());
	file("/proc/self/exe", program);
	file(own, program);
	again("/proc/self/exe");
	names(program, argc, argv);
	stack();
	check(!pthread_create(&thread, NULL, stack_of_thread, NULL) &&
		      !pthread_join(thread, NULL),
	      "a thread");
	MPI_Finalize();
	if (!failed)
		printf("ok\n");
	return failed;
}
