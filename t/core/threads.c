/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OS threads that act for a rank: they send, receive, match and meet, and their
 * messages keep their order among those of the rank's tasks.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

static void thread_run(pthread_t *thread, void *(*body)(void *), void *arg)
{
	if (pthread_create(thread, NULL, body, arg))
		bail("no thread");
}

static void start(int ranks, int workers)
{
	vmpi_config config = { .ranks = ranks, .workers = workers };

	if (vmpi_start(&config))
		bail("no start");
}

/* Threads only: the ranks have no body at all. */
#define RING 4

static void *ring(void *arg)
{
	int rank = (int)(intptr_t)arg, value;
	vmpi_chan *world;
	vmpi_status status;

	EXPECT(vmpi_attach(rank) == 0);
	world = vmpi_world();
	EXPECT(vmpi_rank() == rank && vmpi_chan_rank(world) == rank);
	for (int i = 0; i < 300; i++) {
		value = i;
		if (rank == 0)
			EXPECT(vmpi_send(world, &value, sizeof(value), 1, 0) ==
			       0);
		EXPECT(vmpi_recv(world, &value, sizeof(value),
				 (rank + RING - 1) % RING, 0, &status) == 0);
		EXPECT(value == i);
		if (rank != 0)
			EXPECT(vmpi_send(world, &value, sizeof(value),
					 (rank + 1) % RING, 0) == 0);
		if (i % 100 == 0)
			EXPECT(vmpi_barrier(world) == 0);
	}
	EXPECT(vmpi_detach() == 0);
	return NULL;
}

static void test_ring(int workers)
{
	pthread_t threads[RING];

	start(RING, workers);
	for (intptr_t i = 0; i < RING; i++)
		thread_run(&threads[i], ring, (void *)i);
	for (int i = 0; i < RING; i++)
		pthread_join(threads[i], NULL);
	is_int(vmpi_stop(), 0, "a runtime without bodies stops");
	is_int(job_faults_take(), 0,
	       "threads pass a message round (%d workers)", workers);
}

/* A thread of each rank exchanges with all ranks' bodies, every size. */
#define RANKS 4
#define EACH 120

static size_t size_of(int i)
{
	static const size_t sizes[] = { 4, 40, 64, 5000, 9000, 30000 };

	return sizes[i % 6];
}

static void *partner(void *arg)
{
	int rank = (int)(intptr_t)arg;
	char *data = calloc(1, 30000);
	vmpi_req *req;

	EXPECT(vmpi_attach(rank) == 0);
	for (int i = 0; i < EACH; i++) {
		vmpi_chan *world = vmpi_world();
		int peer = i % RANKS;

		EXPECT(vmpi_irecv(world, &req, data, 30000, peer, 1000 + i) ==
		       0);
		EXPECT(vmpi_send(world, &i, sizeof(i), peer, i) == 0);
		if (i % 3)
			EXPECT(vmpi_wait(&req, NULL) == 0);
		else
			while (vmpi_test(&req, NULL) == -VMPI_EAGAIN)
				;
		EXPECT(job_filled(data, size_of(i), (uint64_t)i));
	}
	EXPECT(vmpi_detach() == 0);
	free(data);
	return NULL;
}

/* Answers the threads of all ranks: EACH / RANKS from each. */
static void answers(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	char *data = calloc(1, 30000);

	for (int n = 0; n < EACH / RANKS * size; n++) {
		vmpi_status status;
		vmpi_msg *msg;
		int i;

		/* By a handle: that of another task's answer is none of
		 * ours. */
		while (vmpi_try_match(world, &msg, VMPI_ANY,
				      rank + n / size * RANKS) == -VMPI_EAGAIN)
			vmpi_yield();
		EXPECT(vmpi_msg_recv(&msg, &i, sizeof(i), &status) == 0);
		EXPECT(i == rank + n / size * RANKS && i == status.tag);
		job_fill(data, size_of(i), (uint64_t)i);
		EXPECT(vmpi_send(world, data, size_of(i), status.source,
				 1000 + i) == 0);
	}
	free(data);
}

static void test_partners(int workers)
{
	void (*body)(int, int) = answers;
	pthread_t threads[RANKS];

	start(RANKS, workers);
	for (intptr_t i = 0; i < RANKS; i++)
		thread_run(&threads[i], partner, (void *)i);
	is_int(vmpi_run(NULL, job_main, &body), 0, "bodies answer");
	for (int i = 0; i < RANKS; i++)
		pthread_join(threads[i], NULL);
	vmpi_stop();
	is_int(job_faults_take(), 0, "threads and bodies talk (%d workers)",
	       workers);
}

/*
 * One rank's messages come from its body and from a thread, in turns, by hand
 * signals outside of vmpi: they arrive in that order.
 */
#define TURNS 600

static _Atomic int turn;

static void take_turns(int who)
{
	vmpi_chan *world = vmpi_world();
	char data[9000] = { 0 };

	for (int i = who; i < TURNS; i += 2) {
		while (atomic_load_explicit(&turn, memory_order_acquire) != i)
			vmpi_yield();
		memcpy(data, &i, sizeof(i));
		/* Two at a time, so that a ring is not empty. */
		EXPECT(vmpi_send(world, data, i % 7 ? 4 : 3000, 1, 0) == 0);
		EXPECT(vmpi_send(world, data, i % 5 ? 4 : 3000, 1, 0) == 0);
		atomic_store_explicit(&turn, i + 1, memory_order_release);
	}
}

static void *turn_thread(void *arg)
{
	EXPECT(vmpi_attach(0) == 0);
	take_turns(1);
	EXPECT(vmpi_detach() == 0);
	return arg;
}

static void turn_body(int rank, int size)
{
	char data[9000];
	int value;

	(void)size;
	if (rank == 0) {
		take_turns(0);
		return;
	}
	for (int i = 0; i < 2 * TURNS; i++) {
		EXPECT(vmpi_recv(vmpi_world(), data, sizeof(data), 0, VMPI_ANY,
				 NULL) == 0);
		memcpy(&value, data, sizeof(value));
		EXPECT(value == i / 2);
	}
}

static void test_turns(int workers)
{
	void (*body)(int, int) = turn_body;
	pthread_t thread;

	turn = 0;
	start(2, workers);
	thread_run(&thread, turn_thread, NULL);
	is_int(vmpi_run(NULL, job_main, &body), 0, "two senders of a rank");
	pthread_join(thread, NULL);
	vmpi_stop();
	is_int(job_faults_take(), 0,
	       "messages of a rank's body and thread stay in order "
	       "(%d workers)",
	       workers);
}

/* Several threads and the body of one rank take its messages: each once. */
#define TAKERS 3
#define MESSAGES 3000

static _Atomic unsigned char taken[MESSAGES];

static void take(int kind)
{
	vmpi_chan *world = vmpi_world();
	int value = 0;

	while (value >= 0) {
		vmpi_msg *msg;

		if (kind % 2) {
			EXPECT(vmpi_recv(world, &value, sizeof(value), 1, 0,
					 NULL) == 0);
		} else {
			EXPECT(vmpi_match(world, &msg, VMPI_ANY, 0) == 0);
			EXPECT(vmpi_msg_recv(&msg, &value, sizeof(value),
					     NULL) == 0);
		}
		if (value >= 0)
			EXPECT(atomic_fetch_add(&taken[value], 1) == 0);
	}
}

static void *take_thread(void *arg)
{
	EXPECT(vmpi_attach(0) == 0);
	take((int)(intptr_t)arg);
	EXPECT(vmpi_detach() == 0);
	return NULL;
}

static void take_body(int rank, int size)
{
	int end = -1;

	(void)size;
	if (rank == 0) {
		take(0);
		return;
	}
	for (int i = 0; i < MESSAGES; i++)
		EXPECT((i % 9 ? vmpi_send : vmpi_ssend)(vmpi_world(), &i,
							sizeof(i), 0, 0) == 0);
	for (int i = 0; i < TAKERS + 1; i++)
		EXPECT(vmpi_send(vmpi_world(), &end, sizeof(end), 0, 0) == 0);
}

static void test_takers(int workers)
{
	void (*body)(int, int) = take_body;
	pthread_t threads[TAKERS];
	int wrong = 0;

	start(2, workers);
	for (intptr_t i = 0; i < TAKERS; i++)
		thread_run(&threads[i], take_thread, (void *)i);
	is_int(vmpi_run(NULL, job_main, &body), 0, "three threads and a body");
	for (int i = 0; i < TAKERS; i++)
		pthread_join(threads[i], NULL);
	vmpi_stop();
	for (int i = 0; i < MESSAGES; i++)
		wrong += atomic_exchange(&taken[i], 0) != 1;
	is_int(wrong, 0, "each message goes to one of them");
	is_int(job_faults_take(), 0, "and none is torn (%d workers)", workers);
}

/*
 * The first thread from outside changes how a worker guards its mailboxes, at
 * any moment: no message may be lost by that.
 */
#define STARTS 60
#define NOISE 100

static void *intruder(void *arg)
{
	volatile uint64_t pause = job_mix((uintptr_t)arg) % 40000;
	int value;

	while (pause > 0)
		pause--;
	EXPECT(vmpi_attach(0) == 0);
	for (int i = 0; i < NOISE; i++) {
		EXPECT(vmpi_send(vmpi_world(), &i, sizeof(i), 1, 1) == 0);
		EXPECT(vmpi_recv(vmpi_world(), &value, sizeof(value), 1, 2,
				 NULL) == 0);
		EXPECT(value == i);
	}
	EXPECT(vmpi_detach() == 0);
	return NULL;
}

static void noise(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	int value, next = 0;
	vmpi_msg *msg;

	(void)size;
	for (int i = 0; next < NOISE || i < NOISE; i++) {
		EXPECT(vmpi_send(world, &i, sizeof(i), rank ^ 1, 0) == 0);
		EXPECT(vmpi_recv(world, &value, sizeof(value), rank ^ 1, 0,
				 NULL) == 0);
		EXPECT(value == i || value == -1);
		if (rank == 1 && vmpi_try_match(world, &msg, 0, 1) == 0) {
			EXPECT(vmpi_msg_recv(&msg, &value, sizeof(value),
					     NULL) == 0);
			EXPECT(value == next);
			EXPECT(vmpi_send(world, &next, sizeof(next), 0, 2) ==
			       0);
			next++;
		}
		/* Rank 0 does not know when it is over: rank 1 tells it. */
		if (rank == 0 && vmpi_try_match(world, &msg, 1, 3) == 0) {
			EXPECT(vmpi_msg_drop(&msg) == 0);
			return;
		}
	}
	EXPECT(vmpi_send(world, NULL, 0, 0, 3) == 0);
	/* It may be waiting for one more. */
	value = -1;
	EXPECT(vmpi_send(world, &value, sizeof(value), 0, 0) == 0);
}

static void test_intruder(void)
{
	vmpi_config config = { .ranks = 2, .workers = 1 };
	void (*body)(int, int) = noise;
	pthread_t thread;
	int wrong = 0;

	for (intptr_t i = 0; i < STARTS; i++) {
		wrong += vmpi_start(&config) != 0;
		thread_run(&thread, intruder, (void *)i);
		wrong += vmpi_run(NULL, job_main, &body) != 0;
		pthread_join(thread, NULL);
		wrong += vmpi_stop() != 0;
	}
	is_int(wrong + job_faults_take(), 0,
	       "a thread may come at any moment (%d times)", STARTS);
}

/* Spawns from a thread, joins from another without a rank. */
static int twice(void *arg)
{
	vmpi_yield();
	EXPECT(vmpi_rank() == 1);
	return 2 * (int)(intptr_t)arg;
}

static int no_rank(void *arg)
{
	EXPECT(vmpi_rank() == -VMPI_ENORANK && !vmpi_world());
	return (int)(intptr_t)arg;
}

static void *spawner(void *arg)
{
	vmpi_task **tasks = arg;

	EXPECT(vmpi_attach(1) == 0);
	for (intptr_t i = 0; i < 100; i++)
		EXPECT(vmpi_spawn(&tasks[i], twice, (void *)i) == 0);
	EXPECT(vmpi_detach() == 0);
	return NULL;
}

static void test_spawn(void)
{
	vmpi_task *tasks[200];
	pthread_t thread;
	int result, wrong = 0;

	start(2, 2);
	thread_run(&thread, spawner, tasks);
	pthread_join(thread, NULL);
	for (intptr_t i = 0; i < 100; i++)
		wrong += vmpi_spawn(&tasks[100 + i], no_rank, (void *)i) != 0;
	for (int i = 0; i < 200; i++) {
		wrong += vmpi_join(&tasks[i], &result) != 0 || tasks[i];
		wrong += result != (i < 100 ? 2 * i : i - 100);
	}
	vmpi_stop();
	is_int(wrong, 0, "threads start and join tasks");
	is_int(job_faults_take(), 0, "which know their rank");
}

int main(void)
{
	plan(21);
	for (int workers = 1; workers < 3; workers++) {
		test_ring(workers);
		test_partners(workers);
		test_turns(workers);
		test_takers(workers);
	}
	test_spawn();
	test_intruder();
	return done_testing();
}
