/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pthread lock that is held over a switch is reported: by a child, which hangs
 * and is killed.  One that is only waited for is not.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/job.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int hold(void *arg)
{
	pthread_mutex_lock(&mutex);
	vmpi_sleep(1000000);
	pthread_mutex_unlock(&mutex);
	(void)arg;
	return 0;
}

static int hang(int workers)
{
	vmpi_config config = { .ranks = 1, .workers = workers };
	vmpi_task *tasks[8];

	if (vmpi_start(&config))
		return 1;
	for (int i = 0; i < 8; i++)
		if (vmpi_spawn(&tasks[i], hold, NULL))
			return 1;
	for (int i = 0; i < 8; i++)
		vmpi_join(&tasks[i], NULL);
	return vmpi_stop();
}

/* What a child says on its standard error, until it says more than so much or is
 * silent for long. */
static void child_read(char *text, size_t bytes, int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	size_t used = 0;
	ssize_t n;

	while (used < bytes - 1 && !memchr(text, '\n', used) &&
	       poll(&wait, 1, 50000) > 0) {
		n = read(fd, text + used, bytes - 1 - used);
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	text[used] = '\0';
}

static void reported(int workers)
{
	char text[1000] = "";
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		bail("no pipe");
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		_exit(hang(workers));
	}
	close(ends[1]);
	child_read(text, sizeof(text), ends[0]);
	close(ends[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (!ok(strstr(text, "deadlock: worker ") &&
			strstr(text, "the pthread lock at ") &&
			strstr(text, "vmpi_mutex"),
		"a lock that is held over a switch is reported (%d workers)",
		workers))
		diag("%s", text);
}

static int locks = 1;

static void *keep(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&mutex);
	__atomic_store_n(&locks, 0, __ATOMIC_RELEASE);
	sleep(6);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void waits(int rank, int size)
{
	(void)rank;
	(void)size;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

/* Ranks wait for a lock that a thread holds: no lines, and they go on. */
static void not_reported(void)
{
	pthread_t thread;
	char text[1000] = "";
	int ends[2], keep_error = dup(STDERR_FILENO);

	if (pipe(ends) || pthread_create(&thread, NULL, keep, NULL))
		bail("no pipe or thread");
	while (__atomic_load_n(&locks, __ATOMIC_ACQUIRE))
		usleep(1000);
	dup2(ends[1], STDERR_FILENO);
	job(2, 2, waits, "a lock that a thread holds is waited for");
	dup2(keep_error, STDERR_FILENO);
	close(ends[1]);
	pthread_join(thread, NULL);
	child_read(text, sizeof(text), ends[0]);
	is_string(text, "", "and nothing is reported");
	close(ends[0]);
}

int main(void)
{
	reported(1);
	reported(2);
	not_reported();
	return done_testing();
}
