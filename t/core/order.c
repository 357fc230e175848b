/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order: messages of a pair of ranks never overtake each other, whatever their
 * size, mode and way, also when rings are full; and a synchronous send waits.
 */
#include <stdlib.h>
#include <string.h>

#include "job.h"

static size_t size_of(int i)
{
	uint64_t random = job_mix((uint64_t)i + 99);

	switch (random % 16) {
	case 0:
		return 20000 + random / 16 % 20000;
	case 1:
	case 2:
		return 100 + random / 16 % 8000;
	default:
		return 4 + random / 16 % 36;
	}
}

#define BYTES_MAX 40000

/* One stream from rank 0 to the last rank, received in three ways. */
static void streams(int rank, int size)
{
	enum { COUNT = 6000 };
	vmpi_chan *world = vmpi_world();
	char *data = calloc(1, BYTES_MAX);
	vmpi_req *reqs[8] = { NULL };
	char *slots = calloc(8, BYTES_MAX);
	vmpi_status status;
	int value;

	for (int i = 0; rank == 0 && i < COUNT; i++) {
		char *buffer = slots + i % 8 * BYTES_MAX;

		if (reqs[i % 8])
			EXPECT(vmpi_wait(&reqs[i % 8], NULL) == 0);
		memcpy(buffer, &i, sizeof(i));
		if (i % 5 == 0)
			EXPECT(vmpi_send(world, buffer, size_of(i), size - 1,
					 7) == 0);
		else if (i % 97 == 1)
			EXPECT(vmpi_issend(world, &reqs[i % 8], buffer,
					   size_of(i), size - 1, 7) == 0);
		else
			EXPECT(vmpi_isend(world, &reqs[i % 8], buffer,
					  size_of(i), size - 1, 7) == 0);
	}
	if (rank == 0)
		EXPECT(vmpi_wait_all(reqs, NULL, 8) == 0);
	for (int i = 0; rank == size - 1 && i < COUNT; i++) {
		int source = i % 3 ? 0 : VMPI_ANY, tag = i % 4 ? 7 : VMPI_ANY;
		vmpi_msg *msg;

		if (i % 7 == 3) {
			EXPECT(vmpi_match(world, &msg, source, tag) == 0);
			EXPECT(vmpi_msg_recv(&msg, data, BYTES_MAX, &status) ==
			       0);
		} else {
			EXPECT(vmpi_recv(world, data, BYTES_MAX, source, tag,
					 &status) == 0);
		}
		memcpy(&value, data, sizeof(value));
		EXPECT(value == i);
		EXPECT(status.bytes == size_of(i));
	}
	free(slots);
	free(data);
}

/* All ranks flood all others before any receives: all rings overflow. main()
 * has asked for space for so many messages. */
static void floods(int rank, int size)
{
	enum { EACH = 400 };
	vmpi_chan *world = vmpi_world();
	int pair[2], next[64] = { 0 };
	vmpi_status status;

	for (int i = 0; i < EACH; i++)
		for (int to = 0; to < size; to++) {
			pair[0] = rank;
			pair[1] = i;
			EXPECT(vmpi_send(world, pair, sizeof(pair), to, i) ==
			       0);
		}
	for (int i = 0; i < EACH * size; i++) {
		EXPECT(vmpi_recv(world, pair, sizeof(pair), VMPI_ANY, VMPI_ANY,
				 &status) == 0);
		EXPECT(status.source == pair[0] && status.tag == pair[1]);
		EXPECT(next[pair[0]] == pair[1]);
		next[pair[0]]++;
	}
}

/* A rank computes and does not receive: its senders empty its ring. */
static void busy_receiver(int rank, int size)
{
	enum { EACH = 3000 };
	static _Atomic int sent;
	vmpi_chan *world = vmpi_world();
	int value;

	if (rank == 0) {
		/* Without a call that would look for messages. */
		while (atomic_load_explicit(&sent, memory_order_relaxed) <
		       size - 1)
			;
		for (int r = 1; r < size; r++)
			for (int i = 0; i < EACH; i++) {
				EXPECT(vmpi_recv(world, &value, sizeof(value),
						 r, 3, NULL) == 0);
				EXPECT(value == i);
			}
		sent = 0;
		return;
	}
	for (int i = 0; i < EACH; i++)
		EXPECT(vmpi_send(world, &i, sizeof(i), 0, 3) == 0);
	atomic_fetch_add(&sent, 1);
}

/* A synchronous send is not complete before its message is matched. */
static void synchronous(int rank, int size)
{
	static _Atomic int posted;
	vmpi_chan *world = vmpi_world();
	int value = rank;
	vmpi_req *req;

	(void)size;
	for (int i = 0; i < 200 && rank < 2; i++) {
		if (rank == 0) {
			EXPECT(vmpi_issend(world, &req, &value, sizeof(value),
					   1, 1) == 0);
			EXPECT(vmpi_send(world, NULL, 0, 1, 2) == 0);
			EXPECT(vmpi_test(&req, NULL) == -VMPI_EAGAIN ||
			       atomic_load(&posted) > i);
			if (req)
				EXPECT(vmpi_wait(&req, NULL) == 0);
			EXPECT(atomic_load(&posted) == i + 1);
			EXPECT(vmpi_ssend(world, &value, sizeof(value), 1, 3) ==
			       0);
			EXPECT(vmpi_recv(world, NULL, 0, 1, 4, NULL) == 0);
		} else {
			EXPECT(vmpi_recv(world, NULL, 0, 0, 2, NULL) == 0);
			atomic_fetch_add(&posted, 1);
			EXPECT(vmpi_recv(world, &value, sizeof(value), 0, 1,
					 NULL) == 0);
			EXPECT(vmpi_recv(world, &value, sizeof(value), 0, 3,
					 NULL) == 0);
			EXPECT(vmpi_send(world, NULL, 0, 0, 4) == 0);
		}
	}
	EXPECT(vmpi_barrier(world) == 0);
	if (rank == 0)
		posted = 0;
}

/* To oneself. */
static void self(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	char *data = calloc(1, BYTES_MAX), *back = calloc(1, BYTES_MAX);
	vmpi_status status;
	vmpi_req *req;

	(void)size;
	for (int i = 0; i < 200; i++) {
		size_t bytes = size_of(i);

		job_fill(data, bytes, (uint64_t)i);
		if (i % 2) {
			EXPECT(vmpi_irecv(world, &req, back, bytes, rank, i) ==
			       0);
			EXPECT(vmpi_send(world, data, bytes, rank, i) == 0);
			EXPECT(vmpi_wait(&req, &status) == 0);
		} else {
			EXPECT(vmpi_isend(world, &req, data, bytes, rank, i) ==
			       0);
			EXPECT(vmpi_recv(world, back, bytes, rank, i,
					 &status) == 0);
			EXPECT(vmpi_wait(&req, NULL) == 0);
		}
		EXPECT(status.bytes == bytes && status.source == rank &&
		       status.tag == i);
		EXPECT(job_filled(back, bytes, (uint64_t)i));
	}
	free(data);
	free(back);
}

int main(void)
{
	static const struct {
		int ranks, workers;
	} runs[] = { { 2, 1 }, { 2, 2 }, { 8, 2 }, { 12, 5 } };

	plan(21);
	/* Where they go by the fabric, senders would wait for receivers. */
	is_int(vmpi_set("core_copies_max", "100000"), 0,
	       "a process may hold 100000 messages for one that receives none");
	for (int i = 0; i < 4; i++) {
		int ranks = runs[i].ranks, workers = runs[i].workers;

		job(ranks, workers, streams, "a stream stays in order");
		job(ranks, workers, floods, "floods stay in order");
		job(ranks, workers, synchronous, "synchronous sends wait");
		job(ranks, workers, self, "messages to oneself");
	}
	/* The computing rank has a worker of its own. */
	job(2, 2, busy_receiver, "a rank that computes is flooded");
	job(3, 3, busy_receiver, "a rank that computes is flooded by two");
	job(4, 4, busy_receiver, "a rank that computes is flooded by three");
	job(9, 9, busy_receiver, "a rank that computes is flooded by many");
	return done_testing();
}
