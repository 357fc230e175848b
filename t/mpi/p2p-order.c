/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching order of messages and receives (MPI 4.1, 3.5).
 */
#include "mtap.h"

#define MANY 1000

/* Each rank sends MANY numbered messages of changing size to the next. */
static void in_order(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	static int out[MANY][64], in[64];
	MPI_Request requests[MANY];
	bool held = true;

	for (int i = 0; i < MANY; i++) {
		out[i][0] = i;
		MPI_Isend(out[i], 1 + i % 64, MPI_INT, next, 3, MPI_COMM_WORLD,
			  &requests[i]);
	}
	for (int i = 0; i < MANY; i++) {
		MPI_Recv(in, 64, MPI_INT, before, 3, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		held = held && in[0] == i;
	}
	MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
	all_ok(held, "messages of a pair arrive in the order they were sent");
}

/* Long and short messages take different ways and must not overtake. */
static void in_order_of_sizes(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	static const int counts[] = { 1, 100000, 8, 3000, 0, 40000, 10, 1 };
	static char out[100000], in[100000];
	MPI_Request requests[8];
	MPI_Status status;
	bool held = true;
	int count;

	for (int i = 0; i < 8; i++)
		MPI_Isend(out, counts[i], MPI_CHAR, next, 4, MPI_COMM_WORLD,
			  &requests[i]);
	for (int i = 0; i < 8; i++) {
		MPI_Recv(in, sizeof(in), MPI_CHAR, before, MPI_ANY_TAG,
			 MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_CHAR, &count);
		held = held && count == counts[i];
	}
	MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
	all_ok(held, "short messages do not overtake long ones");
}

static void by_tag(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	MPI_Request requests[10];
	bool held = true;
	int out[10], in;

	for (int i = 0; i < 10; i++) {
		out[i] = 100 * rank + i;
		MPI_Isend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD,
			  &requests[i]);
	}
	for (int i = 9; i >= 0; i--) {
		MPI_Recv(&in, 1, MPI_INT, before, i, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		held = held && in == 100 * before + i;
	}
	MPI_Waitall(10, requests, MPI_STATUSES_IGNORE);
	all_ok(held, "tags choose among messages that have arrived");
}

/* Receives are matched in the order they were posted, wildcards included. */
static void posted_order(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	MPI_Request requests[4];
	MPI_Status statuses[4];
	int in[4] = { -1, -1, -1, -1 }, out[4] = { 10, 20, 21, 30 };

	MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
		  MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(&in[1], 1, MPI_INT, before, 2, MPI_COMM_WORLD, &requests[1]);
	MPI_Irecv(&in[2], 1, MPI_INT, before, MPI_ANY_TAG, MPI_COMM_WORLD,
		  &requests[2]);
	MPI_Irecv(&in[3], 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD,
		  &requests[3]);
	everybody();
	MPI_Send(&out[0], 1, MPI_INT, next, 2, MPI_COMM_WORLD);
	MPI_Send(&out[1], 1, MPI_INT, next, 2, MPI_COMM_WORLD);
	MPI_Send(&out[2], 1, MPI_INT, next, 2, MPI_COMM_WORLD);
	MPI_Send(&out[3], 1, MPI_INT, next, 3, MPI_COMM_WORLD);
	MPI_Waitall(4, requests, statuses);
	all_ok(in[0] == 10 && in[1] == 20 && in[2] == 21 && in[3] == 30,
	       "the oldest posted receive that fits gets the message");
	all_ok(statuses[0].MPI_SOURCE == before && statuses[0].MPI_TAG == 2 &&
		       statuses[2].MPI_TAG == 2 &&
		       statuses[3].MPI_SOURCE == before,
	       "a wildcard's status says what came");
}

/* All send to rank 0, which receives from any source. */
static void any_source(void)
{
	enum { EACH = 50 };
	int *seen = calloc((size_t)size, sizeof(*seen));
	bool held = true;

	if (rank != 0) {
		for (int i = 0; i < EACH; i++)
			MPI_Send(&i, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
	} else {
		for (int i = 0; i < EACH * (size - 1); i++) {
			MPI_Status status;
			int in;

			MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 5,
				 MPI_COMM_WORLD, &status);
			held = held && in == seen[status.MPI_SOURCE]++;
		}
	}
	free(seen);
	all_ok(held, "MPI_ANY_SOURCE keeps the order of each sender");
}

/* A directed receive must not get a message for an older wildcard receive. */
static void mixed_wildcards(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	MPI_Request requests[MANY];
	static int in[MANY];
	bool held = true;

	for (int i = 0; i < MANY; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, i % 3 ? before : MPI_ANY_SOURCE,
			  i % 2 ? 6 : MPI_ANY_TAG, MPI_COMM_WORLD,
			  &requests[i]);
	everybody();
	for (int i = 0; i < MANY; i++)
		MPI_Send(&i, 1, MPI_INT, next, 6, MPI_COMM_WORLD);
	MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < MANY; i++)
		held = held && in[i] == i;
	all_ok(held, "directed receives and wildcards match in posted order");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	in_order();
	in_order_of_sizes();
	by_tag();
	posted_order();
	any_source();
	mixed_wildcards();
	return mtap_end();
}
