/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes and matched probes.
 */
#include "mtap.h"

static int next, before;

static void probe(void)
{
	int out[3] = { 1, 2, 3 }, in[3] = { 0 }, count = 0;
	MPI_Request request;
	MPI_Status status;

	MPI_Isend(out, 3, MPI_INT, next, 1, MPI_COMM_WORLD, &request);
	MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_INT, &count);
	all_ok(status.MPI_SOURCE == before && status.MPI_TAG == 1 && count == 3,
	       "MPI_Probe says what the message is");
	MPI_Recv(in, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG,
		 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	all_ok(in[2] == 3, "and leaves it to be received");
}

/* Waits in the probe for a message that comes later. */
static void probe_waits(void)
{
	int value = rank;
	MPI_Status status;

	if (rank % 2 == 1) {
		MPI_Probe(rank - 1, 2, MPI_COMM_WORLD, &status);
		MPI_Recv(&value, 1, MPI_INT, rank - 1, 2, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	} else if (rank + 1 < size) {
		MPI_Send(&value, 1, MPI_INT, rank + 1, 2, MPI_COMM_WORLD);
	}
	all_ok(value == rank - rank % 2, "MPI_Probe waits");
}

static void iprobe(void)
{
	int flag = 1, in = -1;
	MPI_Status status;

	MPI_Iprobe(before, 3, MPI_COMM_WORLD, &flag, &status);
	all_ok(!flag, "MPI_Iprobe says no without a message");
	everybody();
	MPI_Send(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
	do
		MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, &status);
	while (!flag);
	MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, 3, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	all_ok(in == before, "and yes when one comes");
}

/* A matched message cannot be received by other receives. */
static void matched(int count)
{
	int *first = calloc((size_t)count, sizeof(*first));
	int *second = calloc((size_t)count, sizeof(*second));
	int *in = calloc((size_t)count, sizeof(*in)), got = 0;
	MPI_Request requests[2];
	MPI_Message message;
	MPI_Status status;

	first[count - 1] = 1;
	second[count - 1] = 2;
	MPI_Isend(first, count, MPI_INT, next, 4, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(second, count, MPI_INT, next, 4, MPI_COMM_WORLD,
		  &requests[1]);
	MPI_Mprobe(before, 4, MPI_COMM_WORLD, &message, &status);
	MPI_Get_count(&status, MPI_INT, &got);
	all_ok(got == count && message != MPI_MESSAGE_NULL &&
		       status.MPI_SOURCE == before && status.MPI_TAG == 4,
	       "MPI_Mprobe takes a message of %d integers", count);
	MPI_Recv(in, count, MPI_INT, before, 4, MPI_COMM_WORLD, &status);
	all_ok(in[count - 1] == 2, "another receive gets the next message");
	MPI_Mrecv(in, count, MPI_INT, &message, &status);
	MPI_Get_count(&status, MPI_INT, &got);
	all_ok(in[count - 1] == 1 && message == MPI_MESSAGE_NULL &&
		       got == count && status.MPI_SOURCE == before,
	       "MPI_Mrecv gets the one that was matched");
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	free(first);
	free(second);
	free(in);
}

static void improbe(void)
{
	MPI_Message message = MPI_MESSAGE_NO_PROC;
	MPI_Request request, send;
	MPI_Status status;
	static char out[60000], in[60000];
	int flag = 1;

	MPI_Improbe(before, 5, MPI_COMM_WORLD, &flag, &message, &status);
	all_ok(!flag && message == MPI_MESSAGE_NULL,
	       "MPI_Improbe says no without a message");
	everybody();
	out[59999] = (char)(rank + 1);
	MPI_Isend(out, sizeof(out), MPI_CHAR, next, 5, MPI_COMM_WORLD, &send);
	do
		MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag,
			    &message, &status);
	while (!flag);
	MPI_Imrecv(in, sizeof(in), MPI_CHAR, &message, &request);
	MPI_Wait(&request, &status);
	MPI_Wait(&send, MPI_STATUS_IGNORE);
	all_ok(in[59999] == (char)(before + 1) && status.MPI_TAG == 5 &&
		       status.MPI_SOURCE == before,
	       "MPI_Improbe and MPI_Imrecv");
}

static void truncated(void)
{
	MPI_Message message;
	MPI_Request request;
	int out[4] = { 0 }, in[4], rc;

	for (int i = 0; i < 2; i++)
		MPI_Send(out, 4, MPI_INT, next, 6, MPI_COMM_WORLD);
	MPI_Mprobe(before, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	rc = MPI_Mrecv(in, 2, MPI_INT, &message, MPI_STATUS_IGNORE);
	all_class(rc, MPI_ERR_TRUNCATE, "MPI_Mrecv truncates with an error");
	MPI_Mprobe(before, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Imrecv(in, 2, MPI_INT, &message, &request);
	rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
	all_class(rc, MPI_ERR_TRUNCATE, "MPI_Imrecv too, at its end");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	next = (rank + 1) % size;
	before = (rank + size - 1) % size;
	probe();
	probe_waits();
	iprobe();
	matched(1);
	matched(300);
	matched(50000);
	improbe();
	truncated();
	return mtap_end();
}
