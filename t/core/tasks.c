/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks: thousands of them, their results, sleeping, and the runtime that waits
 * for those which are never joined.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "job.h"

static _Atomic int ended;

static int count(void *arg)
{
	(void)arg;
	atomic_fetch_add(&ended, 1);
	return (int)(intptr_t)arg;
}

static int count_late(void *arg)
{
	vmpi_sleep(2000000);
	return count(arg);
}

/* The thread sanitizer knows 8128 threads, ULTs included. */
#if defined(__SANITIZE_THREAD__)
#define THOUSANDS 300
#else
#define THOUSANDS 5000
#endif

static void thousands(int rank, int size)
{
	enum { COUNT = THOUSANDS };
	vmpi_task **tasks = calloc(COUNT, sizeof(*tasks));
	int result;

	(void)size;
	for (int i = 0; i < COUNT; i++)
		EXPECT(vmpi_spawn(&tasks[i], count, (void *)(intptr_t)i) == 0);
	for (int i = COUNT - 1; i >= 0; i--) {
		EXPECT(vmpi_join(&tasks[i], i % 2 ? &result : NULL) == 0);
		EXPECT(!tasks[i]);
		if (i % 2)
			EXPECT(result == i);
	}
	for (int i = 0; i < COUNT; i++)
		EXPECT(vmpi_spawn(NULL, count, NULL) == 0);
	EXPECT(vmpi_rank() == rank);
	free(tasks);
}

/* A tree of tasks, each of which joins its children. */
static int tree(void *arg)
{
	intptr_t depth = (intptr_t)arg;
	vmpi_task *children[3];
	int sum = 1, result;

	for (int i = 0; depth && i < 3; i++)
		EXPECT(vmpi_spawn(&children[i], tree, (void *)(depth - 1)) ==
		       0);
	for (int i = 0; depth && i < 3; i++) {
		EXPECT(vmpi_join(&children[i], &result) == 0);
		sum += result;
	}
	return sum;
}

static void trees(int rank, int size)
{
	(void)rank;
	(void)size;
	EXPECT(tree((void *)6) == 1093);
}

/* Tasks talk to each other by messages of their ranks. */
static int echo(void *arg)
{
	int tag = (int)(intptr_t)arg, value;
	vmpi_chan *world = vmpi_world();
	vmpi_status status;

	for (int i = 0; i < 20; i++) {
		EXPECT(vmpi_recv(world, &value, sizeof(value), VMPI_ANY, tag,
				 &status) == 0);
		value++;
		EXPECT(vmpi_send(world, &value, sizeof(value), status.source,
				 100000 + tag) == 0);
	}
	return 0;
}

static void echoes(int rank, int size)
{
	enum { COUNT = 50 };
	vmpi_chan *world = vmpi_world();
	vmpi_task *tasks[COUNT];
	int value, to = (rank + 1) % size;

	for (int i = 0; i < COUNT; i++)
		EXPECT(vmpi_spawn(&tasks[i], echo, (void *)(intptr_t)i) == 0);
	for (int n = 0; n < 20; n++) {
		for (int i = 0; i < COUNT; i++) {
			value = n * i;
			EXPECT(vmpi_send(world, &value, sizeof(value), to, i) ==
			       0);
		}
		for (int i = 0; i < COUNT; i++) {
			EXPECT(vmpi_recv(world, &value, sizeof(value), to,
					 100000 + i, NULL) == 0);
			EXPECT(value == n * i + 1);
		}
	}
	for (int i = 0; i < COUNT; i++)
		EXPECT(vmpi_join(&tasks[i], NULL) == 0);
}

/* All sleep at the same time; errno stays with its task. */
static int sleeper(void *arg)
{
	uint64_t ns = (uint64_t)(uintptr_t)arg, start = vm_clock_ns();

	errno = (int)ns;
	vmpi_sleep(ns);
	EXPECT(vm_clock_ns() - start >= ns);
	EXPECT(errno == (int)ns);
	return 0;
}

static void sleepers(int rank, int size)
{
	vmpi_task *tasks[40];
	uint64_t start = vm_clock_ns();

	(void)size;
	for (int i = 0; i < 40; i++)
		EXPECT(vmpi_spawn(&tasks[i], sleeper,
				  (void *)(uintptr_t)((i * 37 + rank) % 41 *
						      1000000)) == 0);
	for (int i = 0; i < 40; i++)
		EXPECT(vmpi_join(&tasks[i], NULL) == 0);
	EXPECT(vm_clock_ns() - start < 3000000000);
}

static uint64_t cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
		       1000000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
		       1000;
}

/* Ranks that all wait for each other: no message will ever come. */
static _Atomic int waiting;

static int stuck(void *arg)
{
	vmpi_chan *world = vmpi_world();
	vmpi_status status;
	int kind = vmpi_rank() % 3;
	vmpi_msg *msg;

	(void)arg;
	atomic_fetch_add(&waiting, 1);
	if (kind == 0)
		EXPECT(vmpi_recv(world, NULL, 0, VMPI_ANY, 1, &status) == 0);
	else if (kind == 1)
		EXPECT(vmpi_match(world, &msg, 0, 1) == 0 &&
		       vmpi_msg_drop(&msg) == 0);
	else
		EXPECT(vmpi_ssend(world, NULL, 0, vmpi_rank(), 1) == 0);
	return 0;
}

static void test_deadlock(void)
{
	vmpi_config config = { .ranks = 9, .workers = 3 };
	vmpi_task *tasks[9];
	uint64_t start, cpu;
	int share;

	vmpi_start(&config);
	for (int i = 0; i < 9; i++) {
		EXPECT(vmpi_attach(i) == 0);
		EXPECT(vmpi_spawn(&tasks[i], stuck, NULL) == 0);
		EXPECT(vmpi_detach() == 0);
	}
	while (atomic_load(&waiting) < 9)
		vmpi_sleep(1000000);
	vmpi_sleep(20000000);
	is_int(waiting, 9, "all ranks wait for each other");
	start = vm_clock_ns();
	cpu = cpu_ns();
	vmpi_sleep(300000000);
	share = (int)((cpu_ns() - cpu) * 100 / (vm_clock_ns() - start));
	ok(share < 30, "a deadlocked job takes no processor time (%d %%)",
	   share);
	/* A thread frees them. */
	EXPECT(vmpi_attach(0) == 0);
	for (int i = 0; i < 9; i++)
		if (i % 3 != 2)
			EXPECT(vmpi_send(vmpi_world(), NULL, 0, i, 1) == 0);
	EXPECT(vmpi_detach() == 0);
	for (int i = 2; i < 9; i += 3) {
		EXPECT(vmpi_attach(i) == 0);
		EXPECT(vmpi_recv(vmpi_world(), NULL, 0, i, 1, NULL) == 0);
		EXPECT(vmpi_detach() == 0);
	}
	for (int i = 0; i < 9; i++)
		EXPECT(vmpi_join(&tasks[i], NULL) == 0);
	vmpi_stop();
	is_int(job_faults_take(), 0, "and can be freed from outside");
}

static void test_stop(void)
{
	vmpi_config config = { .ranks = 1, .workers = 2 };

	ended = 0;
	vmpi_start(&config);
	for (int i = 0; i < 100; i++)
		vmpi_spawn(NULL, count_late, NULL);
	is_int(vmpi_stop(), 0, "a runtime with tasks stops");
	is_int(ended, 100, "after all of them");
}

/* A task of no rank waits for what a rank has asked for. */
static int waits(void *arg)
{
	vmpi_req **req = arg;

	return vmpi_rank() == -VMPI_ENORANK ? vmpi_wait(req, NULL) : -1;
}

static void test_without_rank(void)
{
	vmpi_config config = { .ranks = 1, .workers = 1 };
	vmpi_task *task;
	vmpi_req *req;
	int in = 0, out = 5, result = -1;

	vmpi_start(&config);
	EXPECT(vmpi_attach(0) == 0);
	EXPECT(vmpi_irecv(vmpi_world(), &req, &in, sizeof(in), 0, 1) == 0);
	EXPECT(vmpi_send(vmpi_world(), &out, sizeof(out), 0, 1) == 0);
	EXPECT(vmpi_detach() == 0);
	EXPECT(vmpi_spawn(&task, waits, &req) == 0);
	EXPECT(vmpi_join(&task, &result) == 0);
	vmpi_stop();
	ok(result == 0 && in == 5 && job_faults_take() == 0,
	   "a task of no rank can wait for a rank's receive");
}

int main(void)
{
	static const struct {
		int ranks, workers;
	} runs[] = { { 1, 1 }, { 4, 2 }, { 6, 5 } };

	plan(18);
	for (int i = 0; i < 3; i++) {
		int ranks = runs[i].ranks, workers = runs[i].workers;

		job(ranks, workers, thousands, "thousands of tasks");
		job(ranks, workers, trees, "trees of tasks");
		job(ranks, workers, echoes, "tasks and messages");
		job(ranks, workers, sleepers, "tasks that sleep");
	}
	test_deadlock();
	test_stop();
	test_without_rank();
	return done_testing();
}
