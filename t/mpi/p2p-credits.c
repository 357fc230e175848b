/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More short messages than the receiver accepts at a time: each rank of the
 * first half sends to one of the second, which may be in another process.
 * Receives complete in matching order, wherever messages wait, while the order
 * of receives may differ from that of the sends.
 */
#include "mtap.h"

#include <unistd.h>

enum { DATA = 1, SYNC, LONG, LAST };

#define RING 16
#define MANY 20000
#define LONG_INTS 20000

static int peer;
static bool sends;

/* Wildcard receives are posted in a circle and complete in the same order. */
static void ring_in_order(void)
{
	int buffers[RING], at, before = RING - 1;
	MPI_Request requests[RING];
	bool held = true;

	for (int i = 0; i < MANY && sends; i++)
		MPI_Send(&i, 1, MPI_INT, peer, DATA, MPI_COMM_WORLD);
	for (int i = 0; i < RING && !sends; i++)
		MPI_Irecv(&buffers[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
			  MPI_COMM_WORLD, &requests[i]);
	for (int i = 0; i < MANY && !sends; i++) {
		int flag = 0;

		if (i % 2)
			MPI_Waitany(RING, requests, &at, MPI_STATUS_IGNORE);
		while (i % 2 == 0 && !flag)
			MPI_Testany(RING, requests, &at, &flag,
				    MPI_STATUS_IGNORE);
		held = held && at == (before + 1) % RING && buffers[at] == i;
		before = at;
		if (i + RING < MANY)
			MPI_Irecv(&buffers[at], 1, MPI_INT, MPI_ANY_SOURCE,
				  MPI_ANY_TAG, MPI_COMM_WORLD, &requests[at]);
	}
	all_ok(held, "messages complete in the order they are matched in");
}

#define MIXED 3000

/* Synchronous and long messages among the others are matched in order. */
static void mixed_in_order(void)
{
	static int out[MIXED + LONG_INTS], in[LONG_INTS];
	static MPI_Request requests[MIXED];
	bool held = true;

	for (int i = 0; i < MIXED + LONG_INTS; i++)
		out[i] = i;
	for (int i = 0; i < MIXED && sends; i++) {
		if (i % 100 == 50)
			MPI_Isend(&out[i], LONG_INTS, MPI_INT, peer, LONG,
				  MPI_COMM_WORLD, &requests[i]);
		else if (i % 10 == 5)
			MPI_Issend(&out[i], 1, MPI_INT, peer, SYNC,
				   MPI_COMM_WORLD, &requests[i]);
		else
			MPI_Isend(&out[i], 1, MPI_INT, peer, DATA,
				  MPI_COMM_WORLD, &requests[i]);
	}
	for (int i = 0; i < MIXED && !sends; i++) {
		MPI_Status status;
		int tag = i % 100 == 50 ? LONG : i % 10 == 5 ? SYNC : DATA;

		MPI_Recv(in, LONG_INTS, MPI_INT, peer, MPI_ANY_TAG,
			 MPI_COMM_WORLD, &status);
		held = held && status.MPI_TAG == tag && in[0] == i &&
		       (tag != LONG || in[LONG_INTS - 1] == i + LONG_INTS - 1);
	}
	if (sends)
		MPI_Waitall(MIXED, requests, MPI_STATUSES_IGNORE);
	all_ok(held, "synchronous and long messages are matched in their turn");
}

#define FLOOD 10000

/* The receiver first receives the last message. */
static void last_first(void)
{
	static int out[FLOOD], in;
	static MPI_Request requests[FLOOD];
	bool held = true;

	for (int i = 0; i < FLOOD && sends; i++) {
		out[i] = i;
		MPI_Isend(&out[i], 1, MPI_INT, peer,
			  i == FLOOD - 1 ? LAST : DATA, MPI_COMM_WORLD,
			  &requests[i]);
	}
	if (sends) {
		MPI_Waitall(FLOOD, requests, MPI_STATUSES_IGNORE);
	} else {
		MPI_Recv(&in, 1, MPI_INT, peer, LAST, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		held = in == FLOOD - 1;
	}
	for (int i = 0; i < FLOOD - 1 && !sends; i++) {
		MPI_Recv(&in, 1, MPI_INT, peer, DATA, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		held = held && in == i;
	}
	all_ok(held, "what is sent last can be received first");
}

#define CANCELS 6000

/* Sends that the receiver does not take are cancelled, or are received. */
static void cancelled(void)
{
	static int out[CANCELS], in;
	static MPI_Request requests[CANCELS];
	MPI_Status status;
	int flag, left = 0;
	bool held = true;

	for (int i = 0; i < CANCELS && sends; i++)
		MPI_Isend(&out[i], 1, MPI_INT, peer, DATA, MPI_COMM_WORLD,
			  &requests[i]);
	for (int i = CANCELS - 1; i >= 0 && sends; i--)
		MPI_Cancel(&requests[i]);
	for (int i = 0; i < CANCELS && sends; i++) {
		MPI_Wait(&requests[i], &status);
		MPI_Test_cancelled(&status, &flag);
		left += !flag;
	}
	if (sends)
		MPI_Send(&left, 1, MPI_INT, peer, LAST, MPI_COMM_WORLD);
	else
		MPI_Recv(&left, 1, MPI_INT, peer, LAST, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	for (int i = 0; i < left && !sends; i++)
		MPI_Recv(&in, 1, MPI_INT, peer, DATA, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	if (!sends) {
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag,
			   MPI_STATUS_IGNORE);
		held = !flag;
	}
	all_ok(held, "each send is cancelled or received");
}

#define BEFORE_END 2000

/* The sender is in MPI_Finalize already. */
static bool at_the_end(void)
{
	bool held = true;
	int in;

	for (int i = 0; i < BEFORE_END && sends; i++)
		MPI_Send(&i, 1, MPI_INT, peer, DATA, MPI_COMM_WORLD);
	if (sends)
		return true;
	usleep(20000);
	for (int i = 0; i < BEFORE_END; i++) {
		MPI_Recv(&in, 1, MPI_INT, peer, DATA, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		held = held && in == i;
	}
	return held;
}

int main(int argc, char **argv)
{
	bool held;

	mtap_init(&argc, &argv);
	sends = rank < size / 2;
	peer = sends ? rank + size / 2 : rank - size / 2;
	ring_in_order();
	mixed_in_order();
	last_first();
	cancelled();
	held = at_the_end();
	if (!held)
		printf("not ok - what is sent before the end is received\n");
	return mtap_end() || !held;
}
