/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forks HOW: the last rank makes a child, which does what HOW says, and waits
 * for it, while the other ranks meet, sleep and wait for a message of its.  It
 * says how the child ended; every rank says that it is done.
 */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void handler(int number)
{
	(void)number;
	_exit(9);
}

static void *second(void *arg)
{
	pthread_mutex_lock(&mutex);
	usleep(1000);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void thread_use(void)
{
	pthread_t thread;

	pthread_mutex_lock(&mutex);
	if (pthread_create(&thread, NULL, second, NULL))
		_exit(90);
	usleep(1000);
	pthread_mutex_unlock(&mutex);
	if (pthread_join(thread, NULL))
		_exit(91);
	_exit(10);
}

static void at_end(void)
{
	fprintf(stderr, "handler\n");
}

static void grandchild(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		usleep(1000);
		_exit(12);
	}
	if (waitpid(pid, &status, 0) != pid)
		_exit(90);
	_exit(WEXITSTATUS(status));
}

static void do_sleep(void)
{
	struct timespec moment = { .tv_nsec = 1000000 };
	struct timeval wait = { .tv_usec = 1000 };

	sleep(1);
	usleep(1000);
	nanosleep(&moment, NULL);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
	select(0, NULL, NULL, NULL, &wait);
	sched_yield();
	_exit(1);
}

static void do_print(void)
{
	printf("a line of the child\n");
	exit(3);
}

static void do_part(void)
{
	printf("a part of a line");
	_exit(2);
}

static void do_exit(void)
{
	_exit(4);
}

static void do_null(void)
{
	*(volatile int *)8 = 1;
}

static void do_term(void)
{
	raise(SIGTERM);
}

static void do_exec(void)
{
	execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
}

static void do_execvp(void)
{
	char *argv[] = { "sh", "-c", "exit $OF_THIS", NULL };

	setenv("OF_THIS", "6", 1);
	execvp("sh", argv);
}

static void do_execle(void)
{
	char *envp[] = { "OF_THIS=7", NULL };

	execle("/bin/sh", "sh", "-c", "exit $OF_THIS", (char *)NULL, envp);
}

static void do_exec_none(void)
{
	execl("/nonexistent/x", "x", (char *)NULL);
	_exit(errno == ENOENT ? 8 : 90);
}

static void do_handler(void)
{
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
}

static void do_segv_handler(void)
{
	signal(SIGSEGV, handler);
	*(volatile int *)8 = 1;
}

static void do_atexit(void)
{
	atexit(at_end);
	exit(11);
}

static void do_pthread_exit(void)
{
	pthread_exit(NULL);
}

static void do_return(void)
{
}

static void do_send(void)
{
	char byte = 0;

	MPI_Send(&byte, 1, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
}

static void do_barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static void do_abort_mpi(void)
{
	MPI_Abort(MPI_COMM_WORLD, 3);
}

static void do_finalize(void)
{
	MPI_Finalize();
}

/* A child that starts a new session, as daemon() does, and outlives its
 * parent. */
static void do_daemon(void)
{
	if (daemon(0, 0))
		_exit(90);
	sleep(1);
	_exit(0);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "sleep", do_sleep },
	{ "print", do_print },
	{ "part", do_part },
	{ "_exit", do_exit },
	{ "null", do_null },
	{ "abort", abort },
	{ "term", do_term },
	{ "exec", do_exec },
	{ "execvp", do_execvp },
	{ "execle", do_execle },
	{ "exec-none", do_exec_none },
	{ "handler", do_handler },
	{ "segv-handler", do_segv_handler },
	{ "thread", thread_use },
	{ "atexit", do_atexit },
	{ "grandchild", grandchild },
	{ "pthread_exit", do_pthread_exit },
	{ "return", do_return },
	{ "MPI_Send", do_send },
	{ "MPI_Barrier", do_barrier },
	{ "MPI_Abort", do_abort_mpi },
	{ "MPI_Finalize", do_finalize },
	{ "daemon", do_daemon },
};

static int spawn(void)
{
	char *argv[] = { "sh", "-c", "exit 13", NULL };
	int status = -1;
	pid_t pid;

	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ))
		return -1;
	waitpid(pid, &status, 0);
	return status;
}

static int pipe_read(void)
{
	FILE *file = popen("echo of a pipe; exit 14", "r");
	char line[64] = "";

	if (!file || !fgets(line, sizeof(line), file) ||
	    strcmp(line, "of a pipe\n") != 0)
		return -1;
	return pclose(file);
}

static int by_vfork(int exec)
{
	int status = -1;
	pid_t pid = vfork();

	if (pid == 0) {
		if (exec)
			execl("/bin/sh", "sh", "-c", "exit 15", (char *)NULL);
		_exit(16);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* The status of the child, in which it may not return at all. */
static int child_make(const char *how, int *returned)
{
	int status = -1;
	pid_t pid;

	if (!strcmp(how, "spawn"))
		return spawn();
	if (!strcmp(how, "system"))
		return system("exit 17");
	if (!strcmp(how, "popen"))
		return pipe_read();
	if (!strncmp(how, "vfork", 5))
		return by_vfork(how[5] != '\0');
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
			if (!strcmp(how, kinds[i].name))
				kinds[i].run();
		*returned = 1;
		return 0;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

struct work {
	const char *how;
	int status, returned;
};

static void *work_do(void *arg)
{
	struct work *work = arg;

	work->status = child_make(work->how, &work->returned);
	return NULL;
}

int main(int argc, char **argv)
{
	struct work work = { .how = argv[1] };
	int rank, size, word = 0, level;
	pthread_t thread;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == size - 1) {
		if (argc > 2 && !strcmp(argv[2], "thread")) {
			if (pthread_create(&thread, NULL, work_do, &work))
				return 90;
			pthread_join(thread, NULL);
		} else {
			work_do(&work);
		}
		if (work.returned)
			return 18;
		if (WIFSIGNALED(work.status))
			printf("child died of %d\n", WTERMSIG(work.status));
		else
			printf("child exited with %d\n",
			       WEXITSTATUS(work.status));
		word = 77;
		for (int i = 0; i < size - 1; i++)
			MPI_Send(&word, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
	} else {
		usleep(1000);
		MPI_Recv(&word, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	printf("rank %d %s\n", rank, word == 77 ? "done" : "wrong");
	MPI_Finalize();
	return 0;
}
