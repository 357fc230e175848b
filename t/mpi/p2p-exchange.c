/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A send and a receive in one request.
 */
#include "mtap.h"

#define LARGE 300000

static int out[LARGE], in[LARGE];

static void ring(int count, const char *what)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	int right = 1, n = -1;
	MPI_Request request;
	MPI_Status status;

	for (int i = 0; i < count; i++) {
		out[i] = rank * 1000 + i;
		in[i] = -1;
	}
	MPI_Isendrecv(out, count, MPI_INT, next, 3, in, count, MPI_INT, before,
		      3, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, &status);
	MPI_Get_count(&status, MPI_INT, &n);
	for (int i = 0; i < count; i++)
		right = right && in[i] == before * 1000 + i;
	all_ok(right, "a ring of %s", what);
	all_ok(request == MPI_REQUEST_NULL && n == count &&
		       status.MPI_SOURCE == before && status.MPI_TAG == 3,
	       "the status is that of the receive, %s", what);
	MPI_Isendrecv_replace(out, count, MPI_INT, next, 4, MPI_ANY_SOURCE,
			      MPI_ANY_TAG, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, &status);
	right = status.MPI_SOURCE == before && status.MPI_TAG == 4;
	for (int i = 0; i < count; i++)
		right = right && out[i] == before * 1000 + i;
	all_ok(right, "and in one buffer, %s", what);
}

/* Many at once, completed in every way. */
static void many(void)
{
	enum { N = 20 };
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	int done = 0, right = 1, index, flag = 0;
	MPI_Request requests[N];

	for (int i = 0; i < N; i++)
		MPI_Isendrecv(&out[i * 5000], 5000, MPI_INT, next, i,
			      &in[i * 5000], 5000, MPI_INT, before, i,
			      MPI_COMM_WORLD, &requests[i]);
	while (!flag)
		MPI_Test(&requests[7], &flag, MPI_STATUS_IGNORE);
	done++;
	MPI_Waitany(N, requests, &index, MPI_STATUS_IGNORE);
	right = index >= 0 && index != 7;
	done++;
	MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < N; i++)
		right = right && requests[i] == MPI_REQUEST_NULL;
	all_ok(right && done == 2, "many at once, tested and awaited");
}

/* The send is synchronous by its size: its data must not be touched before the
 * request is complete, and the request not be complete before it is taken. */
static void waits_for_both(void)
{
	int peer = rank ^ 1, flag = -1, value = rank, got = -1;
	MPI_Request request;

	if (peer >= size || size < 2) {
		all_ok(true, "the send is waited for, too");
		return;
	}
	if (rank % 2 == 0) {
		for (int i = 0; i < LARGE; i++)
			out[i] = i;
		MPI_Isendrecv(out, LARGE, MPI_INT, peer, 1, &got, 1, MPI_INT,
			      peer, 2, MPI_COMM_WORLD, &request);
		/* The other's message is here once this one comes. */
		MPI_Recv(&value, 1, MPI_INT, peer, 3, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		MPI_Send(&value, 1, MPI_INT, peer, 4, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		all_ok(flag == 0 && got == peer, "the send is waited for, too");
		return;
	}
	MPI_Send(&value, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);
	MPI_Send(&value, 1, MPI_INT, peer, 3, MPI_COMM_WORLD);
	MPI_Recv(&value, 1, MPI_INT, peer, 4, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	MPI_Recv(in, LARGE, MPI_INT, peer, 1, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	all_ok(in[LARGE - 1] == LARGE - 1, "the send is waited for, too");
}

static void special(void)
{
	int value = 5, got = -1;
	MPI_Request request;
	MPI_Status status;

	MPI_Isendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, &got, 1, MPI_INT,
		      MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, &status);
	all_ok(status.MPI_SOURCE == MPI_PROC_NULL && got == -1,
	       "MPI_PROC_NULL on both sides");
	MPI_Isendrecv(&value, 1, MPI_INT, rank, 0, &got, 1, MPI_INT, rank, 0,
		      MPI_COMM_WORLD, &request);
	MPI_Wait(&request, &status);
	all_ok(got == 5, "to oneself");
	MPI_Isendrecv(NULL, 0, MPI_INT, rank, 0, NULL, 0, MPI_INT, rank, 0,
		      MPI_COMM_WORLD, &request);
	all_ok(MPI_Wait(&request, &status) == MPI_SUCCESS, "no data at all");
}

static void errors(void)
{
	int value[2] = { 0 }, small;
	MPI_Request request = MPI_REQUEST_NULL;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	all_class(MPI_Isendrecv(value, 1, MPI_INT, size, 0, value, 1, MPI_INT,
				0, 0, MPI_COMM_WORLD, &request),
		  MPI_ERR_RANK, "a wrong destination");
	all_class(MPI_Isendrecv(value, 1, MPI_INT, 0, 0, value, -1, MPI_INT, 0,
				0, MPI_COMM_WORLD, &request),
		  MPI_ERR_COUNT, "a negative count");
	all_class(MPI_Isendrecv_replace(value, 1, MPI_DATATYPE_NULL, 0, 0, 0, 0,
					MPI_COMM_WORLD, &request),
		  MPI_ERR_TYPE, "MPI_DATATYPE_NULL");
	all_class(MPI_Isendrecv_replace(value, 1, MPI_INT, 0, -5, 0, 0,
					MPI_COMM_WORLD, &request),
		  MPI_ERR_TAG, "a wrong tag");
	MPI_Isendrecv(value, 2, MPI_INT, rank, 0, &small, 1, MPI_INT, rank, 0,
		      MPI_COMM_WORLD, &request);
	all_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE,
		  "truncation");
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	ring(1, "one number");
	ring(1000, "4000 bytes");
	ring(LARGE, "1.2 million bytes");
	many();
	waits_for_both();
	special();
	errors();
	return mtap_end();
}
