/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls with deadlines: nothing comes; it comes in time; it comes just then and
 * is either received or still there.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/job.h"

enum { BIG = 300000, ROUNDS = 400 };

static uint64_t soon(void)
{
	return vmpi_time_ns() + 1000000;
}

/* Outputs stay as they were. */
static void nothing_comes(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	vmpi_status status = { .tag = 77 };
	vmpi_msg *msg = NULL;
	vmpi_req *reqs[2], *first;
	uint64_t deadline = soon();
	int value = 5, index = 9;

	(void)rank;
	(void)size;
	EXPECT(vmpi_recv_until(world, &value, sizeof(value), VMPI_ANY, VMPI_ANY,
			       &status, deadline) == -VMPI_ETIMEDOUT);
	EXPECT(vmpi_time_ns() >= deadline);
	EXPECT(vmpi_match_until(world, &msg, 0, 3, soon()) == -VMPI_ETIMEDOUT);
	EXPECT(vmpi_match_until(world, &msg, 0, 3, 0) == -VMPI_ETIMEDOUT);
	EXPECT(vmpi_irecv(world, &reqs[0], &value, 4, 0, 8) == 0);
	EXPECT(vmpi_irecv(world, &reqs[1], &value, 4, 0, 9) == 0);
	first = reqs[0];
	EXPECT(vmpi_wait_until(&reqs[0], &status, soon()) == -VMPI_ETIMEDOUT);
	EXPECT(vmpi_wait_any_until(reqs, &index, &status, 2, soon()) ==
	       -VMPI_ETIMEDOUT);
	EXPECT(vmpi_wait_all_until(reqs, NULL, 2, soon()) == -VMPI_ETIMEDOUT);
	EXPECT(reqs[0] == first && index == 9 && status.tag == 77 && !msg);
	for (int i = 0; i < 2; i++) {
		EXPECT(vmpi_cancel(reqs[i]) == 0);
		EXPECT(vmpi_wait_until(&reqs[i], NULL, 0) == -VMPI_ECANCELED);
	}
	EXPECT(vmpi_wait_until(&reqs[0], NULL, 0) == 0);
	EXPECT(vmpi_wait_any_until(reqs, &index, NULL, 2, 0) == 0 &&
	       index == -1);
	EXPECT(value == 5);
}

static void it_comes(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	int from = (rank + size - 1) % size, to = (rank + 1) % size;
	vmpi_status status, statuses[2];
	vmpi_req *reqs[2];
	vmpi_msg *msg;
	int value = 0, index;

	EXPECT(vmpi_send(world, &rank, sizeof(rank), to, 1) == 0);
	EXPECT(vmpi_recv_until(world, &value, sizeof(value), VMPI_ANY, 1,
			       &status, VMPI_NEVER) == 0);
	EXPECT(value == from && status.source == from && status.tag == 1);
	EXPECT(vmpi_send(world, "12345678", 8, to, 2) == 0);
	EXPECT(vmpi_recv_until(world, &value, 4, from, 2, NULL, VMPI_NEVER) ==
	       -VMPI_ETRUNC);
	EXPECT(vmpi_send(world, &rank, sizeof(rank), to, 3) == 0);
	EXPECT(vmpi_match_until(world, &msg, from, VMPI_ANY, VMPI_NEVER) == 0);
	EXPECT(vmpi_msg_tag(msg) == 3 && vmpi_msg_drop(&msg) == 0);
	EXPECT(vmpi_irecv(world, &reqs[0], &value, 4, from, 4) == 0);
	EXPECT(vmpi_isend(world, &reqs[1], &rank, 4, to, 4) == 0);
	EXPECT(vmpi_wait_all_until(reqs, statuses, 2, VMPI_NEVER) == 0);
	EXPECT(statuses[0].bytes == 4 && !reqs[0] && !reqs[1]);
	EXPECT(vmpi_irecv(world, &reqs[0], &value, 4, from, 5) == 0);
	EXPECT(vmpi_irecv(world, &reqs[1], &value, 4, from, 6) == 0);
	EXPECT(vmpi_send(world, &rank, 4, to, 6) == 0);
	EXPECT(vmpi_wait_any_until(reqs, &index, NULL, 2, VMPI_NEVER) == 0);
	EXPECT(index == 1 && reqs[0] && !reqs[1]);
	EXPECT(vmpi_barrier(world) == 0);
	EXPECT(vmpi_send(world, &rank, 4, to, 5) == 0);
	EXPECT(vmpi_wait_until(&reqs[0], &status, VMPI_NEVER) == 0);
	EXPECT(status.source == from && status.tag == 5);
}

/* Messages, short and long, that come about when the deadline passes: each is
 * received once. */
static void just_then(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	char *buffer = malloc(BIG);
	int got = 0, other = rank ^ 1;

	(void)size;
	for (int i = 0; i < ROUNDS; i++) {
		size_t bytes = i % 3 ? 64 : BIG;
		uint64_t now = vmpi_time_ns();
		vmpi_status status;
		int rc;

		if (rank % 2) {
			memset(buffer, i, bytes);
			vmpi_sleep((uint64_t)(i % 5) * 2000);
			EXPECT(vmpi_send(world, buffer, bytes, other, 0) == 0);
			continue;
		}
		while (got == i) {
			now += (uint64_t)(i % 7) * 1500;
			rc = vmpi_recv_until(world, buffer, BIG, other, 0,
					     &status, now);
			EXPECT(rc == 0 || rc == -VMPI_ETIMEDOUT);
			got += rc == 0;
		}
		EXPECT(status.bytes == bytes && buffer[0] == (char)i &&
		       buffer[bytes - 1] == (char)i);
	}
	free(buffer);
	EXPECT(vmpi_barrier(world) == 0);
}

static int wait_event(void *arg)
{
	EXPECT(vmpi_event_wait(arg) == 0);
	return 50;
}

static int sleep_ms(void *arg)
{
	vmpi_sleep((uint64_t)(uintptr_t)arg * 1000000);
	return (int)(uintptr_t)arg;
}

static void joins(int rank, int size)
{
	vmpi_event end = VMPI_EVENT_INIT;
	vmpi_task *slow, *quick, *tasks[50];
	int result = -5, left = 50;

	(void)rank;
	(void)size;
	EXPECT(vmpi_spawn(&slow, wait_event, &end) == 0);
	EXPECT(vmpi_spawn(&quick, sleep_ms, (void *)1) == 0);
	EXPECT(vmpi_join_until(&slow, &result, 0) == -VMPI_ETIMEDOUT);
	EXPECT(vmpi_join_until(&slow, &result, soon()) == -VMPI_ETIMEDOUT);
	EXPECT(slow && result == -5);
	EXPECT(vmpi_join_until(&quick, &result, VMPI_NEVER) == 0);
	EXPECT(!quick && result == 1);
	EXPECT(vmpi_join_until(&quick, NULL, 0) == -VMPI_EINVAL);
	EXPECT(vmpi_event_set(&end) == 0);
	EXPECT(vmpi_join(&slow, &result) == 0 && result == 50);
	/* Those that end about then. */
	for (int i = 0; i < 50; i++)
		EXPECT(vmpi_spawn(&tasks[i], sleep_ms, (void *)1) == 0);
	while (left) {
		uint64_t then = vmpi_time_ns() + 20000;

		for (int i = 0; i < 50; i++)
			left -= tasks[i] &&
				vmpi_join_until(&tasks[i], NULL, then) == 0;
	}
	vmpi_sleep_until(vmpi_time_ns() + 1000);
	vmpi_sleep_until(0);
}

/* A thread that acts for rank 0, and one that acts for none. */
static void *attached(void *arg)
{
	int value;

	EXPECT(vmpi_attach(0) == 0);
	EXPECT(vmpi_recv_until(vmpi_world(), &value, sizeof(value), 1, 40, NULL,
			       soon()) == -VMPI_ETIMEDOUT);
	EXPECT(vmpi_recv_until(vmpi_world(), &value, sizeof(value), 1, 41, NULL,
			       VMPI_NEVER) == 0);
	vmpi_detach();
	return arg;
}

static int send_late(void *arg)
{
	(void)arg;
	if (vmpi_rank() == 0)
		return 0;
	vmpi_sleep(5000000);
	return vmpi_send(vmpi_world(), &(int){ 1 }, sizeof(int), 0, 41);
}

static void threads(void)
{
	vmpi_config config = { .ranks = 2, .workers = 2 };
	vmpi_event end = VMPI_EVENT_INIT;
	vmpi_task *task;
	pthread_t thread;

	EXPECT(vmpi_start(&config) == 0);
	EXPECT(vmpi_spawn(&task, wait_event, &end) == 0);
	EXPECT(vmpi_join_until(&task, NULL, soon()) == -VMPI_ETIMEDOUT);
	EXPECT(vmpi_event_set(&end) == 0);
	EXPECT(vmpi_join_until(&task, NULL, VMPI_NEVER) == 0);
	EXPECT(pthread_create(&thread, NULL, attached, NULL) == 0);
	EXPECT(vmpi_run(NULL, send_late, NULL) == 0);
	pthread_join(thread, NULL);
	EXPECT(vmpi_stop() == 0);
	is_int(job_faults_take(), 0, "OS threads have deadlines, too");
}

static void mistakes(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	vmpi_msg *msg;
	int value;

	(void)rank;
	EXPECT(vmpi_recv_until(NULL, &value, 4, 0, 0, NULL, 0) == -VMPI_EINVAL);
	EXPECT(vmpi_recv_until(world, &value, 4, size, 0, NULL, 0) ==
	       -VMPI_ERANK);
	EXPECT(vmpi_recv_until(world, &value, 4, 0, -2, NULL, 0) == -VMPI_ETAG);
	EXPECT(vmpi_match_until(world, NULL, 0, 0, 0) == -VMPI_EINVAL);
	EXPECT(vmpi_match_until(world, &msg, -5, 0, 0) == -VMPI_ERANK);
	EXPECT(vmpi_wait_until(NULL, NULL, 0) == -VMPI_EINVAL);
	EXPECT(vmpi_wait_all_until(NULL, NULL, 1, 0) == -VMPI_EINVAL);
	EXPECT(vmpi_wait_any_until(NULL, &value, NULL, -1, 0) == -VMPI_EINVAL);
	EXPECT(vmpi_wait_any_until(NULL, NULL, NULL, 0, 0) == -VMPI_EINVAL);
	EXPECT(vmpi_join_until(NULL, NULL, 0) == -VMPI_EINVAL);
}

int main(void)
{
	for (int workers = 1; workers <= 2; workers++) {
		job(2, workers, nothing_comes, "nothing comes in time");
		job(4, workers, it_comes, "what comes is got");
		job(4, workers, just_then, "it comes when the time is over");
		job(2, workers, joins, "tasks end in time, or do not");
	}
	threads();
	job(2, 2, mistakes, "mistakes have the documented results");
	return done_testing();
}
