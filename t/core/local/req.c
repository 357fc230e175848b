/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: waiting for one, all and any of them, testing, and completion by
 * other workers while the owner waits or tests.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/local/engine.h"
#include "core/local/req.h"
#include "core/rank/rank.h"
#include "core/runtime/node.h"
#include "job.h"

#define MANY 64

/* A request that is complete from the start, and none at all. */
static void simple(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	vmpi_req *req = NULL, *none[3] = { NULL, NULL, NULL };
	vmpi_status status, statuses[3];
	int value = 0, index = 7, to = (rank + 1) % size;
	int from = (rank + size - 1) % size;

	EXPECT(vmpi_wait(&req, &status) == 0);
	EXPECT(status.source == VMPI_ANY && status.tag == VMPI_ANY &&
	       status.bytes == 0);
	EXPECT(vmpi_test(&req, NULL) == 0);
	EXPECT(vmpi_wait_all(none, statuses, 3) == 0);
	EXPECT(vmpi_wait_any(none, &index, &status, 3) == 0 && index == -1);
	EXPECT(vmpi_test_any(none, &index, &status, 3) == 0 && index == -1);
	EXPECT(vmpi_wait_all(NULL, NULL, 0) == 0);
	EXPECT(vmpi_isend(world, &req, &rank, sizeof(rank), to, 5) == 0);
	EXPECT(req);
	EXPECT(vmpi_wait(&req, &status) == 0 && !req);
	EXPECT(vmpi_irecv(world, &req, &value, sizeof(value), from, 5) == 0);
	EXPECT(vmpi_wait(&req, &status) == 0 && !req);
	EXPECT(value == from && status.source == from && status.tag == 5 &&
	       status.bytes == sizeof(value) && status.error == 0);
	EXPECT(vmpi_irecv(world, &req, NULL, 0, from, 6) == 0);
	EXPECT(vmpi_test(&req, NULL) == -VMPI_EAGAIN && req);
	EXPECT(vmpi_barrier(world) == 0);
	EXPECT(vmpi_send(world, NULL, 0, to, 6) == 0);
	EXPECT(vmpi_wait(&req, &status) == 0 && status.bytes == 0);
}

/* Receives posted in one order, sent in another, completed as they come. */
static void any_order(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	vmpi_req *reqs[MANY];
	bool seen[MANY] = { false };
	int values[MANY], index;
	vmpi_status status;

	if (rank == 0) {
		for (int i = 0; i < MANY; i++)
			EXPECT(vmpi_irecv(world, &reqs[i], &values[i],
					  sizeof(int), 1 + i % (size - 1),
					  i) == 0);
		EXPECT(vmpi_barrier(world) == 0);
		for (int i = 0; i < MANY; i++) {
			EXPECT(vmpi_wait_any(reqs, &index, &status, MANY) == 0);
			EXPECT(index >= 0 && index < MANY);
			if (index < 0 || index >= MANY)
				return;
			EXPECT(!seen[index] && !reqs[index]);
			seen[index] = true;
			EXPECT(values[index] == 3 * index &&
			       status.tag == index &&
			       status.source == 1 + index % (size - 1));
		}
		EXPECT(vmpi_wait_any(reqs, &index, &status, MANY) == 0 &&
		       index == -1);
		return;
	}
	EXPECT(vmpi_barrier(world) == 0);
	for (int i = MANY - 1; i >= 0; i--) {
		int value = 3 * i;

		if (i % (size - 1) != rank - 1)
			continue;
		EXPECT(vmpi_send(world, &value, sizeof(value), 0, i) == 0);
		if (i % 3 == 0)
			vmpi_yield();
	}
}

/* Each rank sends to each, all at once, with sizes of each protocol. */
static const size_t sizes[] = { 0, 8, 40, 41, 1000, 8192, 8193, 100000 };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void all_to_all(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	size_t n = (size_t)size * SIZES;
	vmpi_req **reqs = calloc(2 * n, sizeof(*reqs));
	vmpi_status *statuses = calloc(2 * n, sizeof(*statuses));
	char **in = calloc(n, sizeof(*in)), **out = calloc(n, sizeof(*out));

	for (size_t i = 0; i < n; i++) {
		size_t bytes = sizes[i % SIZES];
		int peer = (int)(i / SIZES), tag = (int)(i % SIZES);

		in[i] = malloc(bytes + 1);
		out[i] = malloc(bytes + 1);
		job_fill(out[i], bytes, (uint64_t)rank * 77 + i);
		EXPECT(vmpi_irecv(world, &reqs[i], in[i], bytes, peer, tag) ==
		       0);
	}
	for (size_t i = 0; i < n; i++)
		EXPECT(vmpi_isend(world, &reqs[n + i], out[i], sizes[i % SIZES],
				  (int)(i / SIZES), (int)(i % SIZES)) == 0);
	EXPECT(vmpi_wait_all(reqs, statuses, (int)(2 * n)) == 0);
	for (size_t i = 0; i < n; i++) {
		uint64_t seed =
			i / SIZES * 77 + (size_t)rank * SIZES + i % SIZES;

		EXPECT(statuses[i].bytes == sizes[i % SIZES]);
		EXPECT(job_filled(in[i], sizes[i % SIZES], seed));
		EXPECT(!reqs[i] && !reqs[n + i]);
		free(in[i]);
		free(out[i]);
	}
	free(in);
	free(out);
	free(reqs);
	free(statuses);
}

/* Tests in a loop, while another worker completes it. */
static void testing(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	int peer = rank ^ 1, index, done = 0, rc;
	vmpi_req *reqs[4];
	int values[4];

	if (peer >= size)
		return;
	for (int round = 0; round < 300; round++) {
		for (int i = 0; i < 4; i++)
			EXPECT(vmpi_irecv(world, &reqs[i], &values[i],
					  sizeof(int), peer, i) == 0);
		for (int i = 3; i >= 0; i--) {
			int value = round * 4 + i;

			EXPECT(vmpi_send(world, &value, sizeof(value), peer,
					 i) == 0);
		}
		while (vmpi_test(&reqs[round % 4], NULL) == -VMPI_EAGAIN)
			;
		for (done = 1; done < 4; done++) {
			do
				rc = vmpi_test_any(reqs, &index, NULL, 4);
			while (rc == -VMPI_EAGAIN);
			EXPECT(rc == 0 && index >= 0 && index != round % 4);
		}
		for (int i = 0; i < 4; i++)
			EXPECT(values[i] == round * 4 + i);
	}
}

/* The first error is the result; all statuses are there. */
static void errors(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	vmpi_status statuses[3];
	vmpi_req *reqs[3];
	char small[4], text[8] = "1234567";
	int to = (rank + 1) % size, from = (rank + size - 1) % size;

	for (int i = 0; i < 3; i++)
		EXPECT(vmpi_irecv(world, &reqs[i], small, i == 1 ? 2 : 4, from,
				  i) == 0);
	EXPECT(vmpi_send(world, text, 4, to, 0) == 0);
	EXPECT(vmpi_send(world, text, 8, to, 1) == 0);
	EXPECT(vmpi_send(world, text, 3, to, 2) == 0);
	EXPECT(vmpi_wait_all(reqs, statuses, 3) == -VMPI_ETRUNC);
	EXPECT(statuses[0].error == 0 && statuses[0].bytes == 4);
	EXPECT(statuses[1].error == -VMPI_ETRUNC && statuses[1].bytes == 2 &&
	       statuses[1].lost == 6);
	EXPECT(statuses[2].error == 0 && statuses[2].bytes == 3);
	EXPECT(vmpi_irecv(world, &reqs[0], small, 2, from, 9) == 0);
	EXPECT(vmpi_send(world, text, 8, to, 9) == 0);
	EXPECT(vmpi_wait(reqs, NULL) == -VMPI_ETRUNC && !reqs[0]);
	EXPECT(vmpi_send(world, text, 8, to, 9) == 0);
	memset(small, 0, sizeof(small));
	EXPECT(vmpi_recv(world, small, 3, from, 9, statuses) == -VMPI_ETRUNC);
	EXPECT(!memcmp(small, "123", 4) && statuses[0].bytes == 3 &&
	       statuses[0].error == -VMPI_ETRUNC && statuses[0].lost == 5);
}

/* Takes the messages that its senders are ahead, until all of them have
 * stopped: a sender that is too far ahead waits for that. */
static void any_race_drain(int size)
{
	vmpi_chan *world = vmpi_world();
	vmpi_msg *msg;

	for (int stopped = 0; stopped < size - 1;) {
		if (vmpi_try_match(world, &msg, VMPI_ANY, VMPI_ANY))
			continue;
		stopped += vmpi_msg_tag(msg) == 2;
		EXPECT(vmpi_msg_drop(&msg) == 0);
	}
}

/* Waits for any of a few while several workers complete them: no worker may
 * touch the waiter any more after the wait. */
static void any_race(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	vmpi_req *reqs[8] = { NULL };
	char data[8][64];
	int index;

	if (rank == 0) {
		for (int i = 0; i < 20000; i++) {
			for (int r = 1; r < size; r++)
				if (!reqs[r - 1])
					EXPECT(vmpi_irecv(world, &reqs[r - 1],
							  data[r - 1], 64, r,
							  0) == 0);
			EXPECT(vmpi_wait_any(reqs, &index, NULL, size - 1) ==
			       0);
			EXPECT(index >= 0 && data[index][0] == index + 1);
		}
		for (int r = 1; r < size; r++)
			EXPECT(vmpi_send(world, NULL, 0, r, 1) == 0);
		any_race_drain(size);
		/* Receives that will get no message any more are cancelled. */
		for (int r = 1; r < size; r++) {
			if (!reqs[r - 1])
				continue;
			vmpi_cancel(reqs[r - 1]);
			vmpi_wait(&reqs[r - 1], NULL);
		}
		return;
	}
	memset(data[0], rank, 64);
	while (vmpi_irecv(world, &reqs[0], NULL, 0, 0, 1) == 0) {
		bool stop;

		for (int i = 0; i < 10; i++)
			EXPECT(vmpi_send(world, data[0], 64, 0, 0) == 0);
		stop = vmpi_test(&reqs[0], NULL) == 0;
		if (stop)
			break;
		vmpi_cancel(reqs[0]);
		if (vmpi_wait(&reqs[0], NULL) == 0)
			break;
	}
	EXPECT(vmpi_send(world, NULL, 0, 0, 2) == 0);
}

/* A receive of a rank that an OS thread waits for. */
struct elsewhere {
	vmpi_req *req;
	_Atomic bool attached, wait, waits;
};

static void *wait_elsewhere(void *arg)
{
	struct elsewhere *e = arg;

	EXPECT(vmpi_attach(0) == 0);
	atomic_store(&e->attached, true);
	while (!atomic_load(&e->wait))
		;
	atomic_store(&e->waits, true);
	EXPECT(vmpi_wait(&e->req, NULL) == 0);
	EXPECT(vmpi_detach() == 0);
	return NULL;
}

/* While a worker is in its engine, where it completes receives by stores, no
 * thread changes their states. */
static void wait_outside(int rank, int size)
{
	struct vm_engine *engine = vm_node->ranks[0].engine;
	struct elsewhere e = { .req = NULL };
	struct vm_req *req;
	pthread_t thread;
	bool inside;
	int value = 0;

	(void)size;
	if (rank != 0)
		return;
	EXPECT(vmpi_irecv(vmpi_world(), &e.req, &value, sizeof(value), 0, 4) ==
	       0);
	req = e.req;
	if (pthread_create(&thread, NULL, wait_elsewhere, &e))
		bail("no thread");
	while (!atomic_load(&e.attached))
		vmpi_yield();
	while (vm_sched.membarrier && !atomic_load(&engine->biased)) {
		vm_engine_lock(engine);
		vm_engine_unlock(engine);
	}
	inside = vm_engine_enter(engine);
	atomic_store(&e.wait, true);
	while (!atomic_load(&e.waits))
		sched_yield();
	/* Nothing of vmpi: that would leave the engine. */
	usleep(10 * 1000);
	if (inside) {
		EXPECT(atomic_load(&req->state) == VM_REQ_PENDING);
		vm_engine_unlock(engine);
	}
	value = 7;
	EXPECT(vmpi_send(vmpi_world(), &value, sizeof(value), 0, 4) == 0);
	pthread_join(thread, NULL);
}

/* More requests than any pool holds in one piece, waited for backwards. */
static void many(int rank, int size)
{
	enum { COUNT = 5000 };
	vmpi_chan *world = vmpi_world();
	vmpi_req **reqs = calloc(COUNT, sizeof(*reqs));
	int *values = calloc(COUNT, sizeof(int)), to = (rank + 1) % size;

	for (int i = 0; i < COUNT; i++)
		EXPECT(vmpi_irecv(world, &reqs[i], &values[i], sizeof(int),
				  VMPI_ANY, i) == 0);
	for (int i = 0; i < COUNT; i++)
		EXPECT(vmpi_send(world, &i, sizeof(i), to, i) == 0);
	for (int i = COUNT - 1; i >= 0; i--) {
		EXPECT(vmpi_wait(&reqs[i], NULL) == 0);
		EXPECT(values[i] == i);
	}
	free(reqs);
	free(values);
}

/* A request in a few states, without a job: nobody waits for a stalled one. */
static void stalled(void)
{
	struct vm_req req = { .kind = VM_REQ_RECV, .active = true };

	ok(vm_req_stall(&req) && vm_req_is_ready(&req) && !vm_req_is_done(&req),
	   "a stalled receive is ready, not complete");
	ok(vm_req_stall(&req), "and may be stalled again");
	vm_req_unstall(&req);
	ok(!vm_req_is_ready(&req), "it may be pending again");
	vm_req_stall(&req);
	vm_req_complete(&req);
	ok(vm_req_is_done(&req), "it completes like any other");
	vm_req_unstall(&req);
	ok(vm_req_is_done(&req), "for good");
	atomic_init(&req.state, VM_REQ_STALLED);
	vm_req_detach(&req);
	ok(!vm_req_stall(&req), "one that was given up is not stalled");
}

int main(void)
{
	static const struct {
		int ranks, workers;
	} runs[] = { { 2, 1 }, { 2, 2 }, { 6, 2 }, { 7, 4 } };

	plan(38);
	stalled();
	for (size_t i = 0; i < 4; i++) {
		int ranks = runs[i].ranks, workers = runs[i].workers;

		job(ranks, workers, simple, "requests one by one");
		job(ranks, workers, any_order, "any of many");
		job(ranks, workers, all_to_all, "all of many, of every size");
		job(ranks, workers, testing, "tests in a loop");
		job(ranks, workers, errors, "errors of one among others");
		job(ranks, workers, wait_outside, "a thread waits");
		job(ranks, workers, any_race, "any of a few, in a race");
		job(ranks, workers, many, "thousands");
	}
	return done_testing();
}
