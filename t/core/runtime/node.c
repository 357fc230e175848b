/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime inside of a program: starts and stops again and again, with any
 * number of ranks and workers, and hands out what the ranks returned.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "job.h"

static int return_rank(void *arg)
{
	int *results = arg;

	return results ? results[vmpi_rank()] : 0;
}

static void test_results(void)
{
	int results[5] = { 0, 0, 7, 0, 3 };
	vmpi_config config = { .ranks = 5, .workers = 2 };

	is_int(vmpi_run(&config, return_rank, results), 7,
	       "the result is that of the lowest rank that has one");
	results[1] = -1;
	is_int(vmpi_run(&config, return_rank, results), -1,
	       "it may be negative");
	is_int(vmpi_run(&config, return_rank, NULL), 0, "or 0");
	is_int(vmpi_run(NULL, return_rank, NULL), 0, "by default one rank");
}

/* Each start has its own ranks, and nothing of the one before. */
static void exchange(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	int value = rank, to = (rank + 1) % size;
	vmpi_msg *msg;

	EXPECT(vmpi_try_match(world, &msg, VMPI_ANY, VMPI_ANY) == -VMPI_EAGAIN);
	EXPECT(vmpi_barrier(world) == 0);
	EXPECT(vmpi_send(world, &value, sizeof(value), to, 0) == 0);
	EXPECT(vmpi_recv(world, &value, sizeof(value), VMPI_ANY, 0, NULL) == 0);
	EXPECT(value == (rank + size - 1) % size);
	/* Left behind. */
	EXPECT(vmpi_send(world, &value, sizeof(value), to, 1) == 0);
}

static void test_again(void)
{
	int wrong = 0;

	for (int i = 0; i < 30; i++) {
		vmpi_config config = { .ranks = 1 + i * 7 % 20,
				       .workers = i % 5,
				       .stack_bytes = i % 2 ? 65536 : 0 };
		void (*body)(int, int) = exchange;

		wrong += vmpi_start(&config) != 0;
		wrong += vmpi_size() != config.ranks;
		for (int n = 0; n < i % 4; n++)
			wrong += vmpi_run(NULL, return_rank, NULL) != 0;
		wrong += vmpi_run(NULL, job_main, &body) != 0;
		wrong += vmpi_stop() != 0;
		wrong += vmpi_size() != -VMPI_ESTATE;
	}
	is_int(wrong, 0, "30 runtimes, one after the other");
	is_int(job_faults_take(), 0, "none finds what another has left");
}

/* A number of ranks that is no multiple of anything. */
static _Atomic int bodies;

static int count_body(void *arg)
{
	(void)arg;
	atomic_fetch_add(&bodies, 1);
	return vmpi_barrier(vmpi_world());
}

static void test_sizes(void)
{
	static const int sizes[] = { 1, 2, 3, 17, 100, 1000, 3001 };

	for (int i = 0; i < 7; i++) {
		vmpi_config config = { .ranks = sizes[i],
				       .workers = 1 + i % 3,
				       .stack_bytes = 65536 };

		bodies = 0;
		is_int(vmpi_run(&config, count_body, NULL), 0, "%d ranks run",
		       sizes[i]);
		is_int(bodies, sizes[i], "each of them once");
	}
}

/* The program's own threads and errno are as before. */
static void *run_thread(void *arg)
{
	vmpi_config config = { .ranks = 3, .workers = 2 };

	*(int *)arg = vmpi_run(&config, count_body, NULL);
	return NULL;
}

static void test_thread(void)
{
	int result = -1;
	pthread_t thread;

	bodies = 0;
	if (pthread_create(&thread, NULL, run_thread, &result))
		bail("no thread");
	pthread_join(thread, NULL);
	is_int(result, 0, "any thread may run a job");
	is_int(bodies, 3, "of three ranks");
}

static int errno_body(void *arg)
{
	EXPECT(errno == 0);
	errno = 100 + vmpi_rank();
	vmpi_barrier(vmpi_world());
	EXPECT(errno == 100 + vmpi_rank());
	(void)arg;
	return 0;
}

static void test_errno(void)
{
	vmpi_config config = { .ranks = 8, .workers = 2 };

	errno = 77;
	vmpi_run(&config, errno_body, NULL);
	is_int(job_faults_take(), 0, "each rank has its own errno");
}

int main(void)
{
	plan(23);
	test_results();
	test_again();
	test_sizes();
	test_thread();
	test_errno();
	return done_testing();
}
