/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that block on threads of their own, and tasks with stacks of their
 * own size.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "core/job.h"

enum { TASKS = 12 };

static int pipes[TASKS][2];

/* Blocks the thread that runs it. */
static int read_byte(void *arg)
{
	char byte = 0;

	EXPECT(vmpi_rank() == -VMPI_ENORANK);
	EXPECT(read(pipes[(intptr_t)arg][0], &byte, 1) == 1);
	return byte;
}

static int offload_read(void *arg)
{
	int result = -1;

	EXPECT(vmpi_offload(&result, read_byte, arg) == 0);
	return result;
}

/* All block at a time, on fewer workers. */
static void blocking(int rank, int size)
{
	vmpi_task *tasks[TASKS];
	int result;

	(void)size;
	if (rank) {
		EXPECT(vmpi_recv(vmpi_world(), NULL, 0, 0, 0, NULL) == 0);
		for (int i = TASKS - 1; i >= 0; i--)
			EXPECT(write(pipes[i][1], &(char){ (char)i }, 1) == 1);
		return;
	}
	for (intptr_t i = 0; i < TASKS; i++)
		EXPECT(vmpi_spawn(&tasks[i], offload_read, (void *)i) == 0);
	vmpi_yield();
	EXPECT(vmpi_send(vmpi_world(), NULL, 0, 1, 0) == 0);
	for (int i = 0; i < TASKS; i++) {
		EXPECT(vmpi_join(&tasks[i], &result) == 0);
		EXPECT(result == i);
	}
}

static vmpi_event go;

static int fail(void *arg)
{
	(void)arg;
	errno = ENOTTY;
	return -3;
}

static int use_vmpi(void *arg)
{
	EXPECT(vmpi_event_set(&go) == 0);
	EXPECT(vmpi_event_wait(arg) == 0);
	EXPECT(vmpi_send(vmpi_world(), "", 0, 0, 0) != 0);
	return 0;
}

static int wait_go(void *arg)
{
	EXPECT(vmpi_event_wait(&go) == 0);
	return vmpi_event_set(arg);
}

static void results(int rank, int size)
{
	vmpi_event back = VMPI_EVENT_INIT;
	vmpi_task *task;
	int result = 5;

	(void)size;
	EXPECT(vmpi_offload(&result, NULL, NULL) == -VMPI_EINVAL);
	EXPECT(result == 5);
	errno = 0;
	EXPECT(vmpi_offload(&result, fail, NULL) == 0);
	EXPECT(result == -3 && errno == ENOTTY);
	EXPECT(vmpi_offload(NULL, fail, NULL) == 0);
	EXPECT(vmpi_rank() == rank);
	/* It may wait for a task that runs meanwhile. */
	EXPECT(vmpi_spawn(&task, wait_go, &back) == 0);
	EXPECT(vmpi_offload(NULL, use_vmpi, &back) == 0);
	EXPECT(vmpi_join(&task, NULL) == 0);
}

static int touch(volatile char *room, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 1024)
		room[i] = 1;
	return room[1024];
}

static __attribute__((noinline)) int touch_much(void)
{
	volatile char room[300000];

	return touch(room, sizeof(room));
}

static __attribute__((noinline)) int touch_little(void)
{
	volatile char room[4096];

	return touch(room, sizeof(room));
}

/* As much as fits. */
static int deep(void *arg)
{
	return (uintptr_t)arg > 300000 ? touch_much() : touch_little();
}

static void stacks(int rank, int size)
{
	static const size_t sizes[] = { 16384, 0, 400000, 1 << 22, 1 << 22 };
	vmpi_task_config config = { .stack_bytes = 100 };
	vmpi_task *task = NULL, *tasks[5];
	int result;

	(void)rank;
	(void)size;
	EXPECT(vmpi_spawn_with(&task, &config, deep, NULL) == -VMPI_EINVAL);
	config.stack_bytes = (size_t)1 << 60;
	EXPECT(vmpi_spawn_with(&task, &config, deep, NULL) == -VMPI_ELIMIT);
	config.stack_bytes = 0;
	EXPECT(vmpi_spawn_with(&task, &config, NULL, NULL) == -VMPI_EINVAL);
	EXPECT(!task);
	EXPECT(vmpi_spawn_with(&task, NULL, deep, NULL) == 0);
	EXPECT(vmpi_join(&task, &result) == 0 && result == 1);
	EXPECT(vmpi_spawn_with(NULL, &config, deep, NULL) == 0);
	for (int i = 0; i < 5; i++) {
		config.stack_bytes = sizes[i];
		EXPECT(vmpi_spawn_with(&tasks[i], &config, deep,
				       (void *)(uintptr_t)sizes[i]) == 0);
	}
	for (int i = 0; i < 5; i++)
		EXPECT(vmpi_join(&tasks[i], &result) == 0 && result == 1);
}

int main(void)
{
	vmpi_task_config config = { .stack_bytes = 1 << 20 };
	vmpi_task *task = NULL;
	int result = 0;

	for (int i = 0; i < TASKS; i++)
		if (pipe(pipes[i]))
			bail("no pipes");
	is_int(vmpi_offload(&result, fail, NULL), 0,
	       "without a runtime the caller runs it");
	is_int(result, -3, "... and gets its result");
	is_int(vmpi_spawn_with(&task, &config, deep, NULL), -VMPI_ESTATE,
	       "but there are no tasks");
	for (int workers = 1; workers <= 2; workers++) {
		job(2, workers, blocking, "functions block, and nobody else");
		job(2, workers, results, "results, errno and events");
		job(3, workers, stacks, "stacks of all sizes");
	}
	return done_testing();
}
