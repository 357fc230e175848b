/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All completion calls; cancel and free.
 */
#include "mtap.h"

#define MANY 200

static int next, before;

static bool is_empty(const MPI_Status *status)
{
	int count = -1, cancelled = 1;

	MPI_Get_count(status, MPI_INT, &count);
	MPI_Test_cancelled(status, &cancelled);
	return status->MPI_SOURCE == MPI_ANY_SOURCE &&
	       status->MPI_TAG == MPI_ANY_TAG && count == 0 && !cancelled;
}

static void null_requests(void)
{
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Request none[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL,
				MPI_REQUEST_NULL };
	MPI_Status status, statuses[3];
	int flag = 0, index = 0, count = 0, indices[3];
	bool held = true;

	status.MPI_ERROR = MPI_ERR_OTHER;
	MPI_Wait(&request, &status);
	held = held && is_empty(&status) && status.MPI_ERROR == MPI_SUCCESS;
	MPI_Test(&request, &flag, &status);
	held = held && flag && is_empty(&status);
	MPI_Waitall(3, none, statuses);
	held = held && is_empty(&statuses[2]);
	MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
	flag = 0;
	MPI_Testall(3, none, &flag, statuses);
	held = held && flag;
	MPI_Waitany(3, none, &index, &status);
	held = held && index == MPI_UNDEFINED && is_empty(&status);
	flag = 0;
	MPI_Testany(3, none, &index, &flag, &status);
	held = held && flag && index == MPI_UNDEFINED;
	MPI_Waitsome(3, none, &count, indices, statuses);
	held = held && count == MPI_UNDEFINED;
	count = 0;
	MPI_Testsome(3, none, &count, indices, statuses);
	held = held && count == MPI_UNDEFINED;
	flag = 0;
	MPI_Request_get_status(request, &flag, &status);
	held = held && flag && is_empty(&status);
	all_ok(held, "null requests complete at once with an empty status");
}

static void test_until_done(void)
{
	MPI_Request request;
	MPI_Status status;
	int in = -1, flag = 0;

	MPI_Irecv(&in, 1, MPI_INT, before, 1, MPI_COMM_WORLD, &request);
	MPI_Test(&request, &flag, &status);
	all_ok(!flag && request != MPI_REQUEST_NULL,
	       "MPI_Test says no while nothing was sent");
	everybody();
	MPI_Send(&rank, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
	while (!flag)
		MPI_Request_get_status(request, &flag, &status);
	all_ok(in == before && status.MPI_SOURCE == before &&
		       request != MPI_REQUEST_NULL,
	       "MPI_Request_get_status leaves the request alone");
	flag = 0;
	MPI_Test(&request, &flag, &status);
	all_ok(flag && request == MPI_REQUEST_NULL && status.MPI_TAG == 1,
	       "MPI_Test completes it");
}

/* Whether the forms for several requests say that so many of three are done,
 * and leave them alone. */
static bool several_say(MPI_Request *requests, int done)
{
	MPI_Request before_it[3];
	int index = -1, any = -1, all = -1, count = -1, indices[3] = { -1 };
	MPI_Status status, statuses[3];

	memcpy(before_it, requests, sizeof(before_it));
	MPI_Request_get_status_any(3, requests, &index, &any, &status);
	MPI_Request_get_status_all(3, requests, &all, statuses);
	MPI_Request_get_status_some(3, requests, &count, indices, statuses);
	if (memcmp(before_it, requests, sizeof(before_it)) != 0 ||
	    any != (done > 0) || all != (done == 3) || count != done)
		return false;
	if (!done)
		return index == MPI_UNDEFINED;
	return index == 0 && status.MPI_TAG == 21 && indices[0] == 0 &&
	       statuses[done - 1].MPI_TAG == 20 + done &&
	       statuses[done - 1].MPI_SOURCE == before;
}

static void several_statuses(void)
{
	MPI_Request requests[3];
	MPI_Status statuses[3], status;
	int in[3], flag = 0, index = -1, count = -1, indices[3];
	bool held = true;

	for (int i = 0; i < 3; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, before, 21 + i, MPI_COMM_WORLD,
			  &requests[i]);
	held = several_say(requests, 0);
	everybody();
	for (int i = 0; i < 3; i++) {
		MPI_Send(&i, 1, MPI_INT, next, 21 + i, MPI_COMM_WORLD);
		while (!flag)
			MPI_Request_get_status(requests[i], &flag, &status);
		flag = 0;
		held = held && several_say(requests, i + 1);
		everybody();
	}
	MPI_Waitall(3, requests, statuses);
	all_ok(held && in[2] == 2,
	       "MPI_Request_get_status_any, _all and _some leave requests alone");
	MPI_Request_get_status_any(3, requests, &index, &flag, &status);
	held = flag && index == MPI_UNDEFINED && is_empty(&status);
	flag = 0;
	MPI_Request_get_status_all(3, requests, &flag, statuses);
	held = held && flag && is_empty(&statuses[2]);
	MPI_Request_get_status_some(3, requests, &count, indices, statuses);
	all_ok(held && count == MPI_UNDEFINED, "and take null requests");
}

static void post(MPI_Request *requests, int *in)
{
	for (int i = 0; i < MANY; i++) {
		in[i] = -1;
		MPI_Irecv(&in[i], 1, MPI_INT, before, i, MPI_COMM_WORLD,
			  &requests[i]);
	}
	everybody();
}

/* In an order that is not that of the receives. */
static void send_all(void)
{
	for (int i = 0; i < MANY; i++) {
		int tag = i * 7 % MANY, out = 1000 * rank + tag;

		MPI_Send(&out, 1, MPI_INT, next, tag, MPI_COMM_WORLD);
	}
}

static bool all_came(const int *in)
{
	for (int i = 0; i < MANY; i++)
		if (in[i] != 1000 * before + i)
			return false;
	return true;
}

static void any(bool wait)
{
	MPI_Request requests[MANY];
	int in[MANY], done[MANY] = { 0 }, index, flag;
	bool held = true;
	MPI_Status status;

	post(requests, in);
	send_all();
	for (int i = 0; i < MANY; i++) {
		if (wait)
			MPI_Waitany(MANY, requests, &index, &status);
		else
			do
				MPI_Testany(MANY, requests, &index, &flag,
					    &status);
			while (!flag);
		held = held && index >= 0 && index < MANY && !done[index]++ &&
		       status.MPI_TAG == index &&
		       requests[index] == MPI_REQUEST_NULL;
	}
	all_ok(held && all_came(in), "MPI_%sany completes each request once",
	       wait ? "Wait" : "Test");
}

static void some(bool wait)
{
	MPI_Request requests[MANY];
	MPI_Status statuses[MANY];
	int in[MANY], done[MANY] = { 0 }, indices[MANY], count;
	bool held = true;

	post(requests, in);
	send_all();
	for (int left = MANY; left > 0; left -= count) {
		if (wait)
			MPI_Waitsome(MANY, requests, &count, indices, statuses);
		else
			MPI_Testsome(MANY, requests, &count, indices, statuses);
		for (int i = 0; i < count; i++)
			held = held && !done[indices[i]]++ &&
			       statuses[i].MPI_TAG == indices[i] &&
			       requests[indices[i]] == MPI_REQUEST_NULL;
		held = held && count >= wait && count <= left;
		if (!held)
			break;
	}
	all_ok(held && all_came(in), "MPI_%ssome completes each request once",
	       wait ? "Wait" : "Test");
}

static void all_of_them(bool wait)
{
	MPI_Request requests[MANY];
	MPI_Status statuses[MANY];
	int in[MANY], flag = 0;
	bool held = true;

	post(requests, in);
	if (!wait) {
		MPI_Testall(MANY, requests, &flag, statuses);
		held = !flag && requests[0] != MPI_REQUEST_NULL;
		everybody();
	}
	send_all();
	if (wait)
		MPI_Waitall(MANY, requests, statuses);
	while (!wait && !flag)
		MPI_Testall(MANY, requests, &flag, statuses);
	for (int i = 0; i < MANY; i++)
		held = held && statuses[i].MPI_TAG == i &&
		       requests[i] == MPI_REQUEST_NULL;
	all_ok(held && all_came(in), "MPI_%sall completes all requests",
	       wait ? "Wait" : "Test");
}

/* One of several receives is too short. */
static void error_in_status(void)
{
	MPI_Request requests[3];
	MPI_Status statuses[3];
	int in[3] = { 0 }, out[3] = { 1, 2, 3 }, rc;

	for (int i = 0; i < 3; i++)
		MPI_Irecv(&in[i], i == 1 ? 0 : 1, MPI_INT, before, i,
			  MPI_COMM_WORLD, &requests[i]);
	for (int i = 0; i < 3; i++)
		MPI_Send(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD);
	rc = MPI_Waitall(3, requests, statuses);
	MPI_Error_class(rc, &rc);
	all_ok(rc == MPI_ERR_IN_STATUS, "one failed: MPI_ERR_IN_STATUS");
	all_ok(statuses[0].MPI_ERROR == MPI_SUCCESS &&
		       statuses[1].MPI_ERROR == MPI_ERR_TRUNCATE &&
		       statuses[2].MPI_ERROR == MPI_SUCCESS && in[2] == 3 &&
		       requests[1] == MPI_REQUEST_NULL,
	       "the statuses say which");
}

static void cancel(void)
{
	MPI_Request request;
	MPI_Status status;
	int in = -1, flag = 0;

	MPI_Irecv(&in, 1, MPI_INT, before, 77, MPI_COMM_WORLD, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, &status);
	MPI_Test_cancelled(&status, &flag);
	all_ok(flag && request == MPI_REQUEST_NULL,
	       "a receive that nobody sent to is cancelled");
	everybody();
	MPI_Send(&rank, 1, MPI_INT, next, 77, MPI_COMM_WORLD);
	MPI_Recv(&in, 1, MPI_INT, before, 77, MPI_COMM_WORLD, &status);
	MPI_Test_cancelled(&status, &flag);
	all_ok(in == before && !flag, "and takes no later message");

	MPI_Irecv(&in, 1, MPI_INT, before, 78, MPI_COMM_WORLD, &request);
	everybody();
	MPI_Send(&rank, 1, MPI_INT, next, 78, MPI_COMM_WORLD);
	everybody();
	in = -1;
	do
		MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
	while (!flag);
	MPI_Cancel(&request);
	MPI_Wait(&request, &status);
	MPI_Test_cancelled(&status, &flag);
	all_ok(!flag, "a receive that is complete cannot be cancelled");
}

static void free_active(void)
{
	static char out[50000], in[50000];
	MPI_Request request;

	out[0] = (char)rank;
	MPI_Isend(out, sizeof(out), MPI_CHAR, next, 79, MPI_COMM_WORLD,
		  &request);
	MPI_Request_free(&request);
	MPI_Recv(in, sizeof(in), MPI_CHAR, before, 79, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	everybody(); /* now all sends are done */
	all_ok(in[0] == (char)before && request == MPI_REQUEST_NULL,
	       "a freed request still completes");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	next = (rank + 1) % size;
	before = (rank + size - 1) % size;
	null_requests();
	test_until_done();
	several_statuses();
	any(true);
	any(false);
	some(true);
	some(false);
	all_of_them(true);
	all_of_them(false);
	error_in_status();
	cancel();
	free_active();
	return mtap_end();
}
