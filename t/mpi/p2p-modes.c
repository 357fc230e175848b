/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send modes: synchronous, ready, buffered, persistent; sendrecv, messages to
 * oneself, MPI_PROC_NULL.
 */
#include "mtap.h"

static int next, before;

static void synchronous(void)
{
	MPI_Request request;
	int out = rank, in = -1, flag = 1;
	bool early = false;

	MPI_Issend(&out, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &request);
	everybody();
	for (int i = 0; i < 20; i++) {
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		early = early || flag;
	}
	everybody();
	MPI_Recv(&in, 1, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!early)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	all_ok(!early, "MPI_Issend is not complete before it is matched");
	all_ok(in == before, "and then arrives");

	if (rank % 2 == 0 && rank + 1 < size)
		MPI_Ssend(&out, 1, MPI_INT, rank + 1, 2, MPI_COMM_WORLD);
	else if (rank % 2 == 1)
		MPI_Recv(&in, 1, MPI_INT, rank - 1, 2, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	all_ok(rank % 2 == 0 || in == rank - 1, "MPI_Ssend arrives");
}

static void ready(void)
{
	MPI_Request request[2];
	int out = rank, in[2] = { -1, -1 };

	for (int i = 0; i < 2; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, before, 3, MPI_COMM_WORLD,
			  &request[i]);
	everybody();
	MPI_Rsend(&out, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	MPI_Irsend(&out, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &request[0]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	all_ok(in[0] == before && in[1] == before,
	       "MPI_Rsend and MPI_Irsend arrive");
}

static void buffered(void)
{
	/* No provider sends so long ones at once. */
	enum { COUNT = 50000, MESSAGES = 4 };
	int room = MESSAGES * (COUNT * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
	char *buffer = malloc((size_t)room), *back = NULL;
	static int out[COUNT], in[COUNT];
	MPI_Request request;
	int bytes = 0, rc;
	bool held = true;

	MPI_Buffer_attach(buffer, room);
	for (int i = 0; i < MESSAGES; i++) {
		out[0] = i;
		out[COUNT - 1] = rank;
		if (i % 2) {
			MPI_Bsend(out, COUNT, MPI_INT, next, 4, MPI_COMM_WORLD);
		} else {
			MPI_Ibsend(out, COUNT, MPI_INT, next, 4, MPI_COMM_WORLD,
				   &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
	}
	rc = MPI_Bsend(out, COUNT, MPI_INT, next, 4, MPI_COMM_WORLD);
	MPI_Error_class(rc, &rc);
	everybody();
	for (int i = 0; i < MESSAGES; i++) {
		MPI_Recv(in, COUNT, MPI_INT, before, 4, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		held = held && in[0] == i && in[COUNT - 1] == before;
	}
	MPI_Buffer_detach(&back, &bytes);
	all_ok(held, "buffered messages arrive as they were when sent");
	all_ok(rc == MPI_ERR_BUFFER, "a full buffer is MPI_ERR_BUFFER");
	all_ok(back == buffer && bytes == room,
	       "MPI_Buffer_detach gives the buffer back");
	free(buffer);
	rc = MPI_Buffer_detach(&back, &bytes);
	MPI_Error_class(rc, &rc);
	all_ok(rc == MPI_ERR_BUFFER, "and only once");
}

static void sendrecv(void)
{
	static int out[50000], in[50000], both[50000];
	MPI_Status status;
	int count = -1;

	out[49999] = both[49999] = rank;
	MPI_Sendrecv(out, 50000, MPI_INT, next, 5, in, 50000, MPI_INT, before,
		     5, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_INT, &count);
	all_ok(in[49999] == before && count == 50000 &&
		       status.MPI_SOURCE == before,
	       "MPI_Sendrecv goes around a ring");
	MPI_Sendrecv_replace(both, 50000, MPI_INT, next, 5, before, 5,
			     MPI_COMM_WORLD, &status);
	all_ok(both[49999] == before, "MPI_Sendrecv_replace too");
}

static void to_oneself(void)
{
	static char out[100000], in[100000];
	MPI_Request request;
	int small = rank, got = -1;

	MPI_Send(&small, 1, MPI_INT, rank, 6, MPI_COMM_WORLD);
	MPI_Recv(&got, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	memset(out, rank, sizeof(out));
	MPI_Isend(out, sizeof(out), MPI_CHAR, 0, 7, MPI_COMM_SELF, &request);
	MPI_Recv(in, sizeof(in), MPI_CHAR, 0, 7, MPI_COMM_SELF,
		 MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	all_ok(got == rank && memcmp(out, in, sizeof(out)) == 0,
	       "a rank sends to itself");
}

static bool from_nobody(const MPI_Status *status)
{
	int count = -1;

	MPI_Get_count(status, MPI_INT, &count);
	return status->MPI_SOURCE == MPI_PROC_NULL &&
	       status->MPI_TAG == MPI_ANY_TAG && count == 0;
}

static void proc_null(void)
{
	MPI_Message message;
	MPI_Request request;
	MPI_Status status;
	int value = 1, flag = 0;
	bool held = true;

	MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
	MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
	MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
		  &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
	held = held && from_nobody(&status);
	MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
		  &request);
	MPI_Wait(&request, &status);
	held = held && from_nobody(&status) && request == MPI_REQUEST_NULL;
	MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
	held = held && from_nobody(&status);
	MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &status);
	held = held && flag && from_nobody(&status);
	MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status);
	held = held && message == MPI_MESSAGE_NO_PROC && from_nobody(&status);
	MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
	held = held && message == MPI_MESSAGE_NULL && from_nobody(&status);
	MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &message, &status);
	MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
	MPI_Wait(&request, &status);
	held = held && from_nobody(&status);
	MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &value, 1, MPI_INT,
		     MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
	held = held && from_nobody(&status) && value == 1;
	all_ok(held, "MPI_PROC_NULL takes everything and gives nothing");
}

/* Of no elements the datatype says nothing. */
static void no_datatype(void)
{
	MPI_Request request;
	MPI_Status status;
	bool held;
	int count = -1;

	MPI_Irecv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
		  &request);
	MPI_Wait(&request, &status);
	held = from_nobody(&status);
	MPI_Irecv(NULL, 0, MPI_DATATYPE_NULL, rank, 1, MPI_COMM_WORLD,
		  &request);
	MPI_Send(NULL, 0, MPI_DATATYPE_NULL, rank, 1, MPI_COMM_WORLD);
	MPI_Wait(&request, &status);
	MPI_Get_count(&status, MPI_INT, &count);
	all_ok(held && status.MPI_SOURCE == rank && count == 0,
	       "a message of no elements has no datatype");
}

static void persistent(void)
{
	MPI_Request requests[4];
	MPI_Status status;
	int out[2], in[2], flag = 0;
	bool held = true;

	MPI_Send_init(&out[0], 1, MPI_INT, next, 8, MPI_COMM_WORLD,
		      &requests[0]);
	MPI_Ssend_init(&out[1], 1, MPI_INT, next, 9, MPI_COMM_WORLD,
		       &requests[1]);
	MPI_Recv_init(&in[0], 1, MPI_INT, before, 8, MPI_COMM_WORLD,
		      &requests[2]);
	MPI_Recv_init(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD,
		      &requests[3]);
	MPI_Wait(&requests[0], &status);
	MPI_Test(&requests[2], &flag, &status);
	all_ok(flag && requests[0] != MPI_REQUEST_NULL,
	       "a persistent request that was not started is complete");
	for (int i = 0; i < 10; i++) {
		out[0] = 10 * rank + i;
		out[1] = -out[0];
		in[0] = in[1] = 0;
		MPI_Startall(4, requests);
		MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
		held = held && in[0] == 10 * before + i && in[1] == -in[0];
	}
	all_ok(held, "persistent requests start again and again");
	for (int i = 0; i < 4; i++)
		MPI_Request_free(&requests[i]);
	MPI_Recv_init(in, 1, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD,
		      &requests[0]);
	MPI_Start(&requests[0]);
	MPI_Wait(&requests[0], &status);
	all_ok(from_nobody(&status) && requests[0] != MPI_REQUEST_NULL,
	       "also for MPI_PROC_NULL");
	MPI_Request_free(&requests[0]);
	all_ok(requests[0] == MPI_REQUEST_NULL,
	       "MPI_Request_free ends a persistent request");
}

static void persistent_buffered(void)
{
	static char buffer[1000 + 2 * MPI_BSEND_OVERHEAD];
	MPI_Request request;
	int out, in, bytes;
	bool held = true;
	void *back;

	MPI_Buffer_attach(buffer, sizeof(buffer));
	MPI_Bsend_init(&out, 1, MPI_INT, next, 10, MPI_COMM_WORLD, &request);
	for (int i = 0; i < 5; i++) {
		out = i + rank;
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		out = -1;
		MPI_Recv(&in, 1, MPI_INT, before, 10, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		held = held && in == i + before;
	}
	MPI_Request_free(&request);
	MPI_Buffer_detach(&back, &bytes);
	all_ok(held, "a persistent buffered send copies at each start");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	next = (rank + 1) % size;
	before = (rank + size - 1) % size;
	synchronous();
	ready();
	buffered();
	sendrecv();
	to_oneself();
	proc_null();
	no_datatype();
	persistent();
	persistent_buffered();
	return mtap_end();
}
