/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cancelling: a receive or send that is not matched is withdrawn, one that is
 * matched is not, and in a race it is the one or the other and both sides
 * agree.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "job.h"

static void receives(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	int a = -1, b = -1;
	vmpi_req *one, *two;
	vmpi_status status;

	EXPECT(vmpi_irecv(world, &one, &a, sizeof(a), from, 1) == 0);
	EXPECT(vmpi_irecv(world, &two, &b, sizeof(b), from, 1) == 0);
	EXPECT(vmpi_cancel(one) == 0);
	EXPECT(vmpi_wait(&one, &status) == -VMPI_ECANCELED && !one);
	EXPECT(status.error == -VMPI_ECANCELED);
	EXPECT(vmpi_barrier(world) == 0);
	EXPECT(vmpi_send(world, &rank, sizeof(rank), to, 1) == 0);
	EXPECT(vmpi_wait(&two, &status) == 0);
	EXPECT(a == -1 && b == from);
	/* A complete request stays complete. */
	EXPECT(vmpi_irecv(world, &one, &a, sizeof(a), from, 2) == 0);
	EXPECT(vmpi_send(world, &rank, sizeof(rank), to, 2) == 0);
	EXPECT(vmpi_send(world, &rank, sizeof(rank), to, 3) == 0);
	EXPECT(vmpi_recv(world, &b, sizeof(b), from, 3, NULL) == 0);
	EXPECT(vmpi_cancel(one) == 0);
	EXPECT(vmpi_wait(&one, &status) == 0 && status.error == 0 && a == from);
}

/* Sends that are never received; then ones that are. */
static void sends(int rank, int size)
{
	static const size_t sizes[] = { 4, 1000, 9000, 100000 };
	vmpi_chan *world = vmpi_world();
	char *data = calloc(1, 100000);
	int to = (rank + 1) % size, from = (rank + size - 1) % size, value = 0;
	vmpi_status status;
	vmpi_req *req;

	for (int i = 0; i < 4; i++) {
		EXPECT(vmpi_issend(world, &req, data, sizes[i], to, i) == 0);
		EXPECT(vmpi_cancel(req) == 0);
		EXPECT(vmpi_wait(&req, &status) == -VMPI_ECANCELED && !req);
	}
	EXPECT(vmpi_isend(world, &req, data, 100000, to, 5) == 0);
	EXPECT(vmpi_cancel(req) == 0);
	EXPECT(vmpi_cancel(req) == 0);
	EXPECT(vmpi_wait(&req, &status) == -VMPI_ECANCELED);
	/* A buffered one is complete and cannot be cancelled. */
	EXPECT(vmpi_isend(world, &req, &rank, sizeof(rank), to, 6) == 0);
	EXPECT(vmpi_cancel(req) == 0);
	EXPECT(vmpi_wait(&req, NULL) == 0);
	EXPECT(vmpi_barrier(world) == 0);
	EXPECT(vmpi_recv(world, &value, sizeof(value), from, VMPI_ANY,
			 &status) == 0);
	EXPECT(status.tag == 6 && value == from);
	/* Nothing else is there. */
	EXPECT(vmpi_irecv(world, &req, data, 100000, VMPI_ANY, VMPI_ANY) == 0);
	EXPECT(vmpi_test(&req, NULL) == -VMPI_EAGAIN);
	EXPECT(vmpi_cancel(req) == 0);
	EXPECT(vmpi_test(&req, NULL) == -VMPI_ECANCELED && !req);
	free(data);
}

/* A handle has been made of it: the send cannot be cancelled any more. */
static void matched(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	char *data = calloc(1, 50000);
	vmpi_msg *msg;
	vmpi_req *req;

	(void)size;
	if (rank == 0) {
		EXPECT(vmpi_isend(world, &req, data, 50000, 1, 1) == 0);
		EXPECT(vmpi_recv(world, NULL, 0, 1, 2, NULL) == 0);
		EXPECT(vmpi_cancel(req) == 0);
		EXPECT(vmpi_test(&req, NULL) == -VMPI_EAGAIN);
		EXPECT(vmpi_send(world, NULL, 0, 1, 3) == 0);
		EXPECT(vmpi_wait(&req, NULL) == 0);
	} else if (rank == 1) {
		EXPECT(vmpi_match(world, &msg, 0, 1) == 0);
		EXPECT(vmpi_send(world, NULL, 0, 0, 2) == 0);
		EXPECT(vmpi_recv(world, NULL, 0, 0, 3, NULL) == 0);
		EXPECT(vmpi_msg_recv(&msg, data, 50000, NULL) == 0);
	}
	free(data);
}

/* Pairs: the one cancels sends, the other receives, at the same time. */
#define RACE_NS 60000000

static _Atomic long sent, received, tried;

static void race(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	char *data = calloc(1, 20000), *expected = calloc(1, 20000);
	bool sender = rank < size / 2;
	int peer = sender ? rank + size / 2 : rank - size / 2;
	uint64_t until;
	vmpi_status status;
	vmpi_req *req;

	EXPECT(vmpi_barrier(world) == 0);
	until = vm_clock_ns() + RACE_NS;
	for (int i = 0; vm_clock_ns() < until && rank < size / 2 * 2; i++) {
		size_t bytes = i % 3 ? 16 : 20000;
		int rc;

		if (sender) {
			memcpy(data, &i, sizeof(i));
			rc = vmpi_issend(world, &req, data, bytes, peer, 1);
		} else {
			rc = vmpi_irecv(world, &req, expected, 20000, peer, 1);
		}
		EXPECT(rc == 0);
		for (uint64_t n = job_mix((uint64_t)(i * size + rank)) % 64;
		     n > 0; n--)
			vmpi_yield();
		EXPECT(vmpi_cancel(req) == 0);
		rc = vmpi_wait(&req, &status);
		EXPECT(rc == 0 || rc == -VMPI_ECANCELED);
		EXPECT(rc == status.error);
		if (sender)
			atomic_fetch_add(&tried, 1);
		if (rc == 0)
			atomic_fetch_add(sender ? &sent : &received, 1);
	}
	EXPECT(vmpi_barrier(world) == 0);
	if (rank == 0) {
		EXPECT(sent == received);
		diag("%ld of %ld were too late to be cancelled", (long)sent,
		     (long)tried);
		sent = received = tried = 0;
	}
	free(data);
	free(expected);
}

int main(void)
{
	static const struct {
		int ranks, workers;
	} runs[] = { { 2, 1 }, { 2, 2 }, { 7, 3 } };

	plan(12);
	for (int i = 0; i < 3; i++) {
		int ranks = runs[i].ranks, workers = runs[i].workers;

		job(ranks, workers, receives, "receives are withdrawn");
		job(ranks, workers, sends, "sends are withdrawn");
		job(ranks, workers, matched, "a matched send is not");
		job(ranks, workers, race, "both sides agree in a race");
	}
	return done_testing();
}
