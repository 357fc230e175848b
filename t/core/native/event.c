/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events: for tasks and threads that wait and those that come later; reset;
 * deadlines; set and reset while others wait.
 */
#include <pthread.h>

#include "core/job.h"

enum { TASKS = 20 };

static vmpi_event begun = VMPI_EVENT_INIT, over;
static _Atomic int passed;

static int await(void *arg)
{
	(void)arg;
	EXPECT(vmpi_event_wait(&begun) == 0);
	atomic_fetch_add(&passed, 1);
	return 0;
}

static void *await_thread(void *arg)
{
	await(NULL);
	return arg;
}

static void everybody(void)
{
	vmpi_config config = { .ranks = 2, .workers = 2 };
	vmpi_task *tasks[TASKS], *later;
	pthread_t thread;

	EXPECT(vmpi_start(&config) == 0);
	for (int i = 0; i < TASKS; i++)
		EXPECT(vmpi_spawn(&tasks[i], await, NULL) == 0);
	EXPECT(pthread_create(&thread, NULL, await_thread, NULL) == 0);
	vmpi_sleep(2000000);
	is_int(passed, 0, "nobody passes an event before it happens");
	EXPECT(vmpi_event_set(&begun) == 0);
	for (int i = 0; i < TASKS; i++)
		EXPECT(vmpi_join(&tasks[i], NULL) == 0);
	pthread_join(thread, NULL);
	is_int(passed, TASKS + 1, "then all do");
	EXPECT(vmpi_spawn(&later, await, NULL) == 0);
	EXPECT(vmpi_join(&later, NULL) == 0);
	EXPECT(vmpi_event_test(&begun) == 0);
	is_int(passed, TASKS + 2, "also those who come later");
	EXPECT(vmpi_event_reset(&begun) == 0);
	EXPECT(vmpi_event_reset(&begun) == 0);
	EXPECT(vmpi_event_test(&begun) == -VMPI_EAGAIN);
	EXPECT(vmpi_stop() == 0);
	is_int(job_faults_take(), 0, "the results are the documented ones");
}

static int give_up(void *arg)
{
	uint64_t soon = vmpi_time_ns() + 1000000;

	(void)arg;
	EXPECT(vmpi_event_wait_until(&over, 0) == -VMPI_ETIMEDOUT);
	EXPECT(vmpi_event_wait_until(&over, soon) == -VMPI_ETIMEDOUT);
	EXPECT(vmpi_time_ns() >= soon);
	return 0;
}

static void deadlines(int rank, int size)
{
	vmpi_task *late[TASKS];

	(void)size;
	for (int i = 0; i < TASKS; i++)
		EXPECT(vmpi_spawn(&late[i], give_up, NULL) == 0);
	for (int i = 0; i < TASKS; i++)
		EXPECT(vmpi_join(&late[i], NULL) == 0);
	EXPECT(vmpi_barrier(vmpi_world()) == 0);
	if (rank == 0)
		EXPECT(vmpi_event_set(&over) == 0);
	EXPECT(vmpi_event_wait_until(&over, VMPI_NEVER) == 0);
	EXPECT(vmpi_event_wait_until(&over, 0) == 0);
	EXPECT(vmpi_barrier(vmpi_world()) == 0);
	if (rank == 0)
		EXPECT(vmpi_event_reset(&over) == 0);
	EXPECT(vmpi_barrier(vmpi_world()) == 0);
}

static vmpi_event ping = VMPI_EVENT_INIT, pong = VMPI_EVENT_INIT;

/* Each waits for what the other one sets, and resets it: none is lost. */
static void turns(int rank, int size)
{
	vmpi_event *mine = rank ? &pong : &ping, *other = rank ? &ping : &pong;

	(void)size;
	for (int i = 0; i < 3000; i++) {
		if (rank == 0)
			EXPECT(vmpi_event_set(other) == 0);
		EXPECT(vmpi_event_wait(mine) == 0);
		EXPECT(vmpi_event_reset(mine) == 0);
		if (rank == 1)
			EXPECT(vmpi_event_set(other) == 0);
	}
}

static void mistakes(int rank, int size)
{
	(void)rank;
	(void)size;
	EXPECT(vmpi_event_set(NULL) == -VMPI_EINVAL);
	EXPECT(vmpi_event_reset(NULL) == -VMPI_EINVAL);
	EXPECT(vmpi_event_test(NULL) == -VMPI_EINVAL);
	EXPECT(vmpi_event_wait(NULL) == -VMPI_EINVAL);
	EXPECT(vmpi_event_wait_until(NULL, 0) == -VMPI_EINVAL);
}

int main(void)
{
	is_int(vmpi_event_wait_until(&begun, 0), -VMPI_ETIMEDOUT,
	       "an event needs no runtime");
	everybody();
	job(2, 2, deadlines, "who gives up is told");
	job(2, 1, turns, "two ranks wake each other on one worker");
	job(2, 2, turns, "two ranks wake each other on two");
	job(2, 2, mistakes, "mistakes have the documented results");
	return done_testing();
}
