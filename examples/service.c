/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A service: questions come through sockets, for each of which a task waits.  Some
 * answers need a function that blocks, others much stack; who asks nothing for too
 * long is given up.
 *
 *	examples/service
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vmpi.h>

#define CLIENTS 8
#define QUESTIONS 5
#define PATIENCE_NS UINT64_C(200000000)
#define LEVELS 2000
#define LEVEL_BYTES 1024

static int here[CLIENTS], there[CLIENTS];
static int given_up, blocked;

/* Blocks a thread, as a name server or a file would. */
static int look_up(void *arg)
{
	const int *number = arg;

	usleep(2000);
	__atomic_fetch_add(&blocked, 1, __ATOMIC_RELAXED);
	return *number * 2;
}

static int level(int depth)
{
	volatile char room[LEVEL_BYTES];

	room[depth % LEVEL_BYTES] = 1;
	return (depth > 1 ? level(depth - 1) : 0) + room[depth % LEVEL_BYTES];
}

static int descend(void *arg)
{
	return level(*(int *)arg);
}

/* The answer to an even question blocks, that to an odd one goes deep. */
static int answer_find(int question)
{
	vmpi_task_config config = { .stack_bytes = 2 * LEVELS * LEVEL_BYTES };
	int levels = LEVELS + question, answer = -1;
	vmpi_task *deep;

	if (question % 2 == 0)
		return vmpi_offload(&answer, look_up, &question) ? -1 : answer;
	if (vmpi_spawn_with(&deep, &config, descend, &levels) ||
	    vmpi_join(&deep, &answer))
		return -1;
	return answer;
}

/* Serves one client until it hangs up, or is silent for too long. */
static int serve(void *arg)
{
	int fd = here[(intptr_t)arg], question, answer, served = 0, rc;

	for (;;) {
		rc = vmpi_fd_wait_until(fd, NULL, POLLIN,
					vmpi_time_ns() + PATIENCE_NS);
		if (rc == -VMPI_ETIMEDOUT)
			given_up++;
		if (rc || read(fd, &question, sizeof(question)) !=
				  (ssize_t)sizeof(question))
			break;
		answer = answer_find(question);
		if (write(fd, &answer, sizeof(answer)) !=
		    (ssize_t)sizeof(answer))
			break;
		served++;
	}
	close(fd);
	return served;
}

/* Asks all its questions; the last client says nothing, but stays. */
static int ask(void *arg)
{
	int number = (int)(intptr_t)arg, fd = there[number], wrong = 0;
	char nothing;

	for (int i = 0; i < QUESTIONS && number < CLIENTS - 1; i++) {
		int question = number * QUESTIONS + i, answer = 0, ready = 0;

		if (write(fd, &question, sizeof(question)) !=
			    (ssize_t)sizeof(question) ||
		    vmpi_fd_wait(fd, &ready, POLLIN) || !(ready & POLLIN) ||
		    read(fd, &answer, sizeof(answer)) !=
			    (ssize_t)sizeof(answer))
			return 100;
		wrong += answer !=
			 (question % 2 ? LEVELS + question : question * 2);
	}
	/* Until the service hangs up. */
	if (number == CLIENTS - 1 &&
	    (vmpi_fd_wait(fd, NULL, POLLIN) || read(fd, &nothing, 1) != 0))
		wrong++;
	close(fd);
	return wrong;
}

static int body(void *arg)
{
	vmpi_task *servers[CLIENTS], *clients[CLIENTS];
	int served = 0, wrong = 0, ends[2], result;

	for (intptr_t i = 0; i < CLIENTS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
			return 1;
		here[i] = ends[0];
		there[i] = ends[1];
		if (vmpi_spawn(&servers[i], serve, (void *)i) ||
		    vmpi_spawn(&clients[i], ask, (void *)i))
			return 1;
	}
	for (int i = 0; i < CLIENTS; i++) {
		vmpi_join(&clients[i], &result);
		wrong += result;
		vmpi_join(&servers[i], &result);
		served += result;
	}
	printf("%d questions, %d of which blocked; %d wrong answers; %d client "
	       "given up\n",
	       served, blocked, wrong, given_up);
	return wrong || given_up != 1 || served != (CLIENTS - 1) * QUESTIONS;
}

int main(void)
{
	return vmpi_run(&(vmpi_config){ .ranks = 1, .workers = 1 }, body, NULL);
}
