/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short messages to receives that are posted: the shortest way within a worker,
 * and what leaves it.  Rank 0 sends to rank 1.
 */
#include "mtap.h"

#define MOST 40

static long long in[MOST];

/* Receives with tags 0, 1, ..., all posted before rank 0 sends. */
static void post(int count, int bytes, MPI_Request *requests)
{
	for (int i = 0; i < count && rank == 1; i++) {
		in[i] = -1;
		MPI_Irecv(&in[i], bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD,
			  &requests[i]);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void send(int tag, int bytes)
{
	long long value = 1000 + tag;

	MPI_Send(&value, bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
}

/* Few posted receives are a list, many hash bins; forth and back. */
static void each_to_its_own(int count)
{
	MPI_Request requests[MOST];
	MPI_Status statuses[MOST];
	bool held = true;

	post(count, 8, requests);
	for (int i = count; rank == 0 && i-- > 0;)
		send(i, 8);
	if (rank == 1) {
		for (int i = 0; i < count; i++)
			statuses[i].MPI_ERROR = 77;
		MPI_Waitall(count, requests, statuses);
	}
	for (int i = 0; i < count && rank == 1; i++)
		held = held && in[i] == 1000 + i &&
		       requests[i] == MPI_REQUEST_NULL &&
		       statuses[i].MPI_SOURCE == 0 &&
		       statuses[i].MPI_TAG == i &&
		       statuses[i].MPI_ERROR == MPI_SUCCESS;
	all_ok(held, "of %d posted receives each gets its message", count);
}

/* The oldest that fits gets the message. */
static void with_wildcards(int count)
{
	MPI_Request requests[MOST], wild = MPI_REQUEST_NULL, last;
	long long first = -1, second = -1;
	bool held = true;

	if (rank == 1)
		MPI_Irecv(&first, 8, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
			  MPI_COMM_WORLD, &wild);
	post(count, 8, requests);
	if (rank == 0) {
		send(2, 8);
		for (int i = 0; i < count; i++)
			send(i, 8);
		send(99, 8);
	} else if (rank == 1) {
		MPI_Irecv(&second, 8, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
			  &last);
		MPI_Wait(&wild, MPI_STATUS_IGNORE);
		MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
		MPI_Wait(&last, MPI_STATUS_IGNORE);
		held = first == 1002 && second == 1099;
		for (int i = 0; i < count; i++)
			held = held && in[i] == 1000 + i;
	}
	all_ok(held, "also behind one of any tag, before %d others", count);
}

/* Sizes that are copied on the spot, and those that are not. */
static void sizes(void)
{
	static const int bytes[] = { 0, 1, 4, 7, 8, 9, 39, 40, 41, 64, 300 };
	char out[300], got[300];
	bool held = true;

	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		MPI_Status status = { .MPI_ERROR = 77 };
		int count = -1;

		memset(out, 'a' + (int)i, sizeof(out));
		memset(got, '-', sizeof(got));
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 1) {
			MPI_Recv(got, 300, MPI_BYTE, 0, 5, MPI_COMM_WORLD,
				 &status);
			MPI_Get_count(&status, MPI_BYTE, &count);
			held = held && count == bytes[i] &&
			       !memcmp(got, out, (size_t)count) &&
			       (count == 300 || got[count] == '-') &&
			       status.MPI_SOURCE == 0 && status.MPI_TAG == 5 &&
			       status.MPI_ERROR == 77;
		} else if (rank == 0) {
			MPI_Send(out, bytes[i], MPI_BYTE, 1, 5, MPI_COMM_WORLD);
		}
	}
	all_ok(held, "a receive that waits gets all sizes");
}

static void errors(void)
{
	MPI_Request requests[3];
	MPI_Status statuses[3];
	long long value = 5;
	bool held = true;
	int rc;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		rc = MPI_Recv(&value, 4, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
			      MPI_STATUS_IGNORE);
		held = rc == MPI_ERR_TRUNCATE;
	} else if (rank == 0) {
		send(1, 8);
	}
	all_ok(held, "a message that is too long is an error of the receive");
	post(2, 8, requests);
	if (rank == 1) {
		requests[2] = requests[1];
		requests[1] = MPI_REQUEST_NULL;
		memset(statuses, 1, sizeof(statuses));
		held = MPI_Waitall(3, requests, statuses) == MPI_SUCCESS &&
		       statuses[1].MPI_SOURCE == MPI_ANY_SOURCE &&
		       statuses[2].MPI_TAG == 1 && in[1] == 1001;
	} else if (rank == 0) {
		send(0, 8);
		send(1, 8);
	}
	all_ok(held, "among requests a null one has an empty status");
	post(2, 4, requests);
	if (rank == 0) {
		send(0, 4);
		send(1, 8);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		held = MPI_Waitall(2, requests, statuses) ==
			       MPI_ERR_IN_STATUS &&
		       statuses[0].MPI_ERROR == MPI_SUCCESS &&
		       statuses[1].MPI_ERROR == MPI_ERR_TRUNCATE;
	all_ok(held, "and of several the one with the error has it");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	for (int i = 0; i < 2; i++) {
		each_to_its_own(1);
		each_to_its_own(4);
		with_wildcards(3);
		each_to_its_own(MOST);
		with_wildcards(MOST);
		sizes();
	}
	errors();
	return mtap_end();
}
