/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message handles: a matched message belongs to the task that matched it,
 * wherever its payload lies, until it is received, borrowed and dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "job.h"

/* Sizes whose payload lies in the message, in a buffer, with the sender. */
static const size_t sizes[] = { 0, 1, 40, 41, 8192, 8193, 200000 };

#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

enum ending { RECV, RECV_SHORT, IRECV, BORROW, BORROW_RECV, DROP, ENDINGS };

static void end_recv(vmpi_msg **msg, char *buffer, size_t bytes, int tag)
{
	vmpi_status status;

	EXPECT(vmpi_msg_recv(msg, buffer, bytes, &status) == 0 && !*msg);
	EXPECT(status.bytes == bytes && status.tag == tag &&
	       status.source == 0 && status.error == 0);
	EXPECT(job_filled(buffer, bytes, (uint64_t)tag));
}

static void end_short(vmpi_msg **msg, char *buffer, size_t bytes, int tag)
{
	size_t part = bytes / 2;
	vmpi_status status;
	int rc = vmpi_msg_recv(msg, buffer, part, &status);

	EXPECT(rc == (bytes > part ? -VMPI_ETRUNC : 0) && !*msg);
	EXPECT(status.bytes == part && status.error == rc);
	EXPECT(job_filled(buffer, part, (uint64_t)tag));
}

static void end_irecv(vmpi_msg **msg, char *buffer, size_t bytes, int tag)
{
	vmpi_status status;
	vmpi_req *req;

	EXPECT(vmpi_msg_irecv(msg, &req, buffer, bytes) == 0 && !*msg);
	EXPECT(vmpi_wait(&req, &status) == 0);
	EXPECT(status.bytes == bytes && status.tag == tag);
	EXPECT(job_filled(buffer, bytes, (uint64_t)tag));
}

static void end_borrow(vmpi_msg **msg, size_t bytes, int tag)
{
	const void *data = NULL, *again = NULL;

	EXPECT(vmpi_msg_borrow(*msg, &data) == 0);
	EXPECT(vmpi_msg_borrow(*msg, &again) == 0 && again == data);
	EXPECT(job_filled(data, bytes, (uint64_t)tag));
}

static void end(enum ending ending, vmpi_msg **msg, char *buffer, size_t bytes,
		int tag)
{
	switch (ending) {
	case RECV:
		end_recv(msg, buffer, bytes, tag);
		break;
	case RECV_SHORT:
		end_short(msg, buffer, bytes, tag);
		break;
	case IRECV:
		end_irecv(msg, buffer, bytes, tag);
		break;
	case BORROW:
		end_borrow(msg, bytes, tag);
		EXPECT(vmpi_msg_drop(msg) == 0 && !*msg);
		break;
	case BORROW_RECV:
		end_borrow(msg, bytes, tag);
		end_recv(msg, buffer, bytes, tag);
		break;
	default:
		EXPECT(vmpi_msg_drop(msg) == 0 && !*msg);
	}
}

/* Rank 0 sends each size in each mode for each ending; rank 1 takes them,
 * waiting at some (the message comes later) and looking at others. */
static void every_ending(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	char *buffer = malloc(200000);
	vmpi_msg *msg = NULL;

	(void)size;
	for (int n = 0; rank < 2 && n < SIZES * ENDINGS * 4; n++) {
		size_t bytes = sizes[n % SIZES];
		enum ending ending = (enum ending)(n / SIZES % ENDINGS);
		bool sync = n / SIZES / ENDINGS % 2;
		bool wait = n / SIZES / ENDINGS / 2;

		if (rank == 0) {
			job_fill(buffer, bytes, (uint64_t)n);
			if (wait)
				vmpi_sleep(20000);
			if (sync)
				vmpi_ssend(world, buffer, bytes, 1, n);
			else
				vmpi_send(world, buffer, bytes, 1, n);
			continue;
		}
		memset(buffer, 0, bytes);
		if (wait)
			EXPECT(vmpi_match(world, &msg, VMPI_ANY, n) == 0);
		else
			while (vmpi_try_match(world, &msg, 0, VMPI_ANY) ==
			       -VMPI_EAGAIN)
				;
		EXPECT(vmpi_msg_size(msg) == bytes && vmpi_msg_tag(msg) == n &&
		       vmpi_msg_source(msg) == 0);
		end(ending, &msg, buffer, bytes, n);
	}
	free(buffer);
}

/* A matched message is gone for all others; a synchronous send is complete
 * only when its handle has ended. */
static void owned(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	int value = 7, other = 0;
	vmpi_msg *first, *second;
	vmpi_req *req;

	(void)size;
	if (rank == 0) {
		EXPECT(vmpi_issend(world, &req, &value, sizeof(value), 1, 1) ==
		       0);
		value = 7;
		other = 8;
		EXPECT(vmpi_send(world, &other, sizeof(other), 1, 1) == 0);
		EXPECT(vmpi_recv(world, NULL, 0, 1, 2, NULL) == 0);
		EXPECT(vmpi_test(&req, NULL) == -VMPI_EAGAIN);
		EXPECT(vmpi_send(world, NULL, 0, 1, 3) == 0);
		EXPECT(vmpi_wait(&req, NULL) == 0);
		return;
	}
	if (rank != 1)
		return;
	EXPECT(vmpi_match(world, &first, 0, 1) == 0);
	EXPECT(vmpi_match(world, &second, 0, 1) == 0);
	EXPECT(vmpi_try_match(world, &second, 0, 1) == -VMPI_EAGAIN ||
	       !"two messages became three");
	EXPECT(vmpi_msg_recv(&second, &value, sizeof(value), NULL) == 0);
	EXPECT(value == 8);
	EXPECT(vmpi_send(world, NULL, 0, 0, 2) == 0);
	EXPECT(vmpi_recv(world, NULL, 0, 0, 3, NULL) == 0);
	EXPECT(vmpi_msg_recv(&first, &value, sizeof(value), NULL) == 0);
	EXPECT(value == 7);
}

/* Several tasks of one rank take messages, each another way. */
#define TASKS 5
#define MESSAGES 4000

static _Atomic unsigned char taken[MESSAGES];
static _Atomic int taken_count;
#define LAST 0x7fffffff

static int taker(void *arg)
{
	int kind = (int)(intptr_t)arg, value;
	vmpi_chan *world = vmpi_world();
	vmpi_msg *msg;

	for (;;) {
		size_t bytes;

		if (kind % 3 == 2) {
			EXPECT(vmpi_recv(world, &value, sizeof(value), VMPI_ANY,
					 VMPI_ANY, NULL) >= -VMPI_ETRUNC);
		} else if (kind % 3 == 1) {
			EXPECT(vmpi_match(world, &msg, VMPI_ANY, VMPI_ANY) ==
			       0);
		} else {
			int rc =
				vmpi_try_match(world, &msg, VMPI_ANY, VMPI_ANY);

			if (rc == -VMPI_EAGAIN)
				continue;
			EXPECT(rc == 0);
		}
		if (kind % 3 != 2) {
			bytes = vmpi_msg_size(msg);
			vmpi_yield();
			EXPECT(vmpi_msg_recv(&msg, &value, sizeof(value),
					     NULL) ==
			       (bytes > sizeof(value) ? -VMPI_ETRUNC : 0));
		}
		if (value == LAST)
			return 0;
		EXPECT(value >= 0 && value < MESSAGES);
		EXPECT(atomic_fetch_add(&taken[value], 1) == 0);
		atomic_fetch_add(&taken_count, 1);
	}
}

static void many_takers(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	vmpi_task *tasks[TASKS];
	int *data = calloc(3000, sizeof(int));

	if (rank == 0) {
		for (int i = 0; i < TASKS; i++)
			EXPECT(vmpi_spawn(&tasks[i], taker,
					  (void *)(intptr_t)i) == 0);
		for (int i = 0; i < TASKS; i++)
			EXPECT(vmpi_join(&tasks[i], NULL) == 0 && !tasks[i]);
	} else {
		for (int i = rank - 1; i < MESSAGES; i += size - 1) {
			size_t bytes = i % 50 == 0 ? 12000 :
				       i % 7 == 0  ? 400 :
						     sizeof(int);

			data[0] = i;
			if (i % 11 == 0)
				vmpi_ssend(world, data, bytes, 0, i);
			else
				vmpi_send(world, data, bytes, 0, i);
		}
	}
	/* All others have sent when the last barrier member comes. */
	if (rank == 1) {
		data[0] = LAST;
		while (atomic_load(&taken_count) < MESSAGES)
			vmpi_yield();
		for (int i = 0; i < TASKS; i++)
			EXPECT(vmpi_send(world, data, sizeof(int), 0, 0) == 0);
		for (int i = 0; i < MESSAGES; i++)
			EXPECT(atomic_exchange(&taken[i], 0) == 1);
		taken_count = 0;
	}
	free(data);
}

int main(void)
{
	static const struct {
		int ranks, workers;
	} runs[] = { { 2, 1 }, { 2, 2 }, { 5, 3 } };

	plan(9);
	for (int i = 0; i < 3; i++) {
		job(runs[i].ranks, runs[i].workers, every_ending,
		    "every payload, every end of a handle");
		job(runs[i].ranks, runs[i].workers, owned,
		    "a matched message belongs to its matcher");
		job(runs[i].ranks, runs[i].workers, many_takers,
		    "tasks of a rank never get the same message");
	}
	return done_testing();
}
