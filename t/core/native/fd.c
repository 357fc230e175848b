/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for descriptors: pipes and sockets, many at a time, several tasks at
 * one, with deadlines, by ranks, tasks of none and threads; a job that waits
 * for one is not deadlocked.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/job.h"

enum { PIPES = 100, BYTES = 1 << 20 };

static int pipes[PIPES][2];

static int take_byte(void *arg)
{
	int fd = pipes[(intptr_t)arg][0], ready = 0;
	char byte = 0;

	EXPECT(vmpi_fd_wait(fd, &ready, POLLIN) == 0);
	EXPECT(ready == POLLIN);
	EXPECT(read(fd, &byte, 1) == 1);
	return byte;
}

/* One rank waits for many descriptors, by tasks, the other one writes. */
static void many(int rank, int size)
{
	vmpi_task *tasks[PIPES];
	int result;

	(void)size;
	for (int i = PIPES - 1; rank && i >= 0; i--) {
		char byte = (char)(i % 50);

		EXPECT(write(pipes[i][1], &byte, 1) == 1);
		if (i % 10 == 0)
			vmpi_sleep(100000);
	}
	if (rank)
		return;
	for (intptr_t i = 0; i < PIPES; i++)
		EXPECT(vmpi_spawn(&tasks[i], take_byte, (void *)i) == 0);
	for (int i = 0; i < PIPES; i++) {
		EXPECT(vmpi_join(&tasks[i], &result) == 0);
		EXPECT(result == i % 50);
	}
}

static int take_all(void *arg)
{
	int fd = *(int *)arg, sum = 0, ready;
	char buffer[4096];
	ssize_t n;

	do {
		EXPECT(vmpi_fd_wait(fd, &ready, POLLIN) == 0);
		n = read(fd, buffer, sizeof(buffer));
		sum += n > 0 ? (int)n : 0;
	} while (n > 0 || (n < 0 && ready & POLLIN));
	return sum;
}

/* The other end of a socket that is full: one task reads, one writes. */
static void both_ways(int rank, int size)
{
	vmpi_task *readers[2];
	int ends[2], result, sent[2] = { 0, 0 };
	static const char data[4096];

	(void)rank;
	(void)size;
	EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
	for (int i = 0; i < 2; i++)
		EXPECT(vmpi_spawn(&readers[i], take_all, &ends[i]) == 0);
	vmpi_yield();
	while (sent[0] < BYTES || sent[1] < BYTES) {
		for (int i = 0; i < 2; i++) {
			ssize_t n = write(ends[1 - i], data, sizeof(data));

			sent[i] += n > 0 ? (int)n : 0;
			if (n <= 0)
				EXPECT(vmpi_fd_wait(ends[1 - i], NULL,
						    POLLOUT) == 0);
		}
	}
	for (int i = 0; i < 2; i++)
		EXPECT(shutdown(ends[1 - i], SHUT_WR) == 0);
	for (int i = 0; i < 2; i++) {
		EXPECT(vmpi_join(&readers[i], &result) == 0);
		EXPECT(result == sent[i]);
		close(ends[i]);
	}
}

static int end_seen(void *arg)
{
	int ready = 0;

	EXPECT(vmpi_fd_wait(*(int *)arg, &ready, POLLIN) == 0);
	EXPECT(ready & POLLHUP);
	return 0;
}

static void ends(int rank, int size)
{
	vmpi_task *tasks[3];
	int two[2], ready = 7, low, fd;

	(void)size;
	EXPECT(pipe(two) == 0);
	EXPECT(vmpi_fd_wait_until(two[0], &ready, POLLIN, 0) ==
	       -VMPI_ETIMEDOUT);
	EXPECT(vmpi_fd_wait_until(two[0], &ready, POLLIN,
				  vmpi_time_ns() + 1000000) == -VMPI_ETIMEDOUT);
	EXPECT(ready == 7);
	EXPECT(vmpi_fd_wait(two[1], &ready, POLLOUT) == 0);
	EXPECT(ready == POLLOUT);
	/* Several wait for the same. */
	for (int i = 0; i < 3; i++)
		EXPECT(vmpi_spawn(&tasks[i], end_seen, &two[0]) == 0);
	vmpi_yield();
	close(two[1]);
	for (int i = 0; i < 3; i++)
		EXPECT(vmpi_join(&tasks[i], NULL) == 0);
	EXPECT(vmpi_fd_wait(-1, &ready, POLLIN) == -VMPI_EINVAL);
	close(two[0]);
	/* A file is always ready.  The other rank opens none with its number. */
	low = open("/dev/null", O_RDWR);
	fd = fcntl(low, F_DUPFD, 900 + 10 * rank);
	close(low);
	EXPECT(vmpi_fd_wait_until(fd, &ready, POLLIN | POLLOUT, 0) == 0);
	close(fd);
	EXPECT(vmpi_fd_wait(fd, &ready, POLLIN) == -VMPI_EINVAL);
}

/* Longer than the search for deadlocks takes; all wait but for a thread that
 * is none of ours. */
static void patience(int rank, int size)
{
	int in[2];

	EXPECT(pipe(in) == 0);
	if (rank == 0) {
		EXPECT(vmpi_fd_wait_until(in[0], NULL, POLLIN,
					  vmpi_time_ns() + 700000000) ==
		       -VMPI_ETIMEDOUT);
		for (int to = 1; to < size; to++)
			EXPECT(vmpi_send(vmpi_world(), NULL, 0, to, 0) == 0);
	} else {
		EXPECT(vmpi_recv(vmpi_world(), NULL, 0, 0, 0, NULL) == 0);
	}
	close(in[0]);
	close(in[1]);
}

int main(void)
{
	int ready = 0;

	for (int i = 0; i < PIPES; i++)
		if (pipe(pipes[i]))
			bail("no pipes");
	is_int(vmpi_fd_wait_until(pipes[0][0], &ready, POLLIN,
				  vmpi_time_ns() + 1000000),
	       -VMPI_ETIMEDOUT, "without a runtime a thread waits by itself");
	is_int(vmpi_fd_wait(pipes[0][1], &ready, POLLOUT), 0, "... or not");
	is_int(ready, POLLOUT, "... and sees what is ready");
	is_int(vmpi_fd_wait(-1, &ready, POLLIN), -VMPI_EINVAL,
	       "a descriptor is not negative");
	for (int workers = 1; workers <= 2; workers++) {
		job(2, workers, many, "tasks wait for a descriptor each");
		job(2, workers, both_ways, "sockets that are full");
		job(2, workers, ends, "ends, files and mistakes");
	}
	job(2, 2, patience, "it is no deadlock");
	return done_testing();
}
