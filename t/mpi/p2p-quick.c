/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short messages to receives that are posted, or that come later: the shortest
 * ways within a process, and what leaves them.  Rank 0 sends to rank 1; exchanges
 * go both ways.
 */
#include "mtap.h"

#define MOST 40
#define WINDOW 200

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

/* Messages that are there before they are received: all ways to receive, of all
 * short lengths. */
static void early(void)
{
	MPI_Status status = { .MPI_ERROR = 77 };
	MPI_Request request;
	bool held = true;
	int flag = 0;

	for (int i = 0; rank == 0 && i < 3 * MOST; i++)
		send(i, i % 9);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 3 * MOST; rank == 1 && i-- > 0;) {
		long long wanted = 1000 + i, got = 0;

		if (i % 9 < 8)
			wanted &= (1LL << 8 * (i % 9)) - 1;
		if (i % 3 == 0) {
			MPI_Recv(&got, 8, MPI_BYTE, 0, i, MPI_COMM_WORLD,
				 &status);
		} else if (i % 3 == 1) {
			MPI_Irecv(&got, 8, MPI_BYTE, 0, i, MPI_COMM_WORLD,
				  &request);
			MPI_Wait(&request, &status);
		} else {
			MPI_Iprobe(0, i, MPI_COMM_WORLD, &flag, &status);
			held = held && flag;
			MPI_Recv(&got, 8, MPI_BYTE, MPI_ANY_SOURCE, i,
				 MPI_COMM_WORLD, &status);
		}
		MPI_Get_count(&status, MPI_BYTE, &flag);
		held = held && got == wanted && status.MPI_SOURCE == 0 &&
		       status.MPI_TAG == i && flag == i % 9;
	}
	all_ok(held, "messages that are early are received in any order");
}

/* More than a ring has slots, to a rank that does not look. */
static void many(int count)
{
	long long got = 0;
	bool held = true;

	for (int i = 0; rank == 0 && i < count; i++) {
		got = i;
		MPI_Send(&got, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; rank == 1 && i < count; i++) {
		MPI_Recv(&got, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		held = held && got == i;
	}
	all_ok(held, "%d messages in a row keep their order", count);
}

/* Ends what post() has begun, in one of several ways. */
static void finish(int count, MPI_Request *requests, MPI_Status *statuses,
		   int way)
{
	int indices[WINDOW], n = 0, done = 0;

	if (way == 0) {
		MPI_Waitall(count, requests, statuses);
	} else if (way == 1) {
		for (int i = count; i-- > 0;)
			MPI_Wait(&requests[i], &statuses[i]);
	} else if (way == 2) {
		while (!done)
			MPI_Testall(count, requests, &done, statuses);
	}
	for (; way == 3 && done < count; done += n) {
		MPI_Status some[WINDOW];

		MPI_Waitsome(count, requests, &n, indices, some);
		for (int i = 0; i < n; i++)
			statuses[indices[i]] = some[i];
	}
}

/* Requests are used again and again: by receives that get their message, before
 * or after they are posted, that are cancelled, freed, and too short. */
static void windows(int way)
{
	static long long to[WINDOW];
	MPI_Request requests[WINDOW];
	MPI_Status statuses[WINDOW];
	bool held = true;
	int odd, bytes;

	for (int n = 0; n < 6; n++) {
		for (int i = 0; rank == 1 && i < WINDOW; i++) {
			if (i == WINDOW / 2 && n % 2)
				MPI_Barrier(MPI_COMM_WORLD);
			to[i] = -1;
			MPI_Irecv(&to[i], 8, MPI_BYTE, 0, i % 70,
				  MPI_COMM_WORLD, &requests[i]);
		}
		if (rank != 1 || n % 2 == 0)
			MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; rank == 0 && i < WINDOW; i++) {
			to[i] = 100 * n + i;
			MPI_Isend(&to[i], 8, MPI_BYTE, 1, i % 70,
				  MPI_COMM_WORLD, &requests[i]);
		}
		if (rank > 1)
			continue;
		finish(WINDOW, requests, statuses, way);
		for (int i = 0; rank == 1 && i < WINDOW; i++) {
			MPI_Get_count(&statuses[i], MPI_BYTE, &bytes);
			MPI_Test_cancelled(&statuses[i], &odd);
			held = held && to[i] == 100 * n + i && bytes == 8 &&
			       !odd && statuses[i].MPI_SOURCE == 0 &&
			       statuses[i].MPI_TAG == i % 70 &&
			       requests[i] == MPI_REQUEST_NULL;
		}
		if (rank == 0)
			continue;
		MPI_Irecv(&to[0], 8, MPI_BYTE, 0, 99, MPI_COMM_WORLD,
			  &requests[0]);
		MPI_Irecv(&to[0], 8, MPI_BYTE, 0, 99, MPI_COMM_WORLD,
			  &requests[1]);
		MPI_Cancel(&requests[1]);
		MPI_Cancel(&requests[0]);
		MPI_Request_free(&requests[0]);
		MPI_Waitall(1, &requests[1], statuses);
		MPI_Test_cancelled(&statuses[0], &odd);
		MPI_Get_count(&statuses[0], MPI_BYTE, &bytes);
		held = held && odd && bytes == 0;
	}
	all_ok(held, "windows of %d, finished in way %d", WINDOW, way);
}

/* The receiver asks for another one than the next to come, sometimes with a
 * receive of any tag before it, and answers now and then; all lengths. */
static void mixed(int count)
{
	static char out[20000], got[20000];
	static const int bytes[] = { 8, 0, 16, 17, 1000, 20000, 40, 3 };
	bool held = true;

	for (int i = 0; i < count && rank < 2; i += 2) {
		int first = bytes[i / 2 % 8], second = bytes[i / 16 % 8], n;
		bool crossed = i % 3 == 0, wild = i % 5 == 0;
		MPI_Request request = MPI_REQUEST_NULL;
		MPI_Status status;
		char any[8] = { 0 };

		if (rank == 0) {
			memset(out, i % 100, sizeof(out));
			if (wild)
				MPI_Send(out, 8, MPI_BYTE, 1, 7,
					 MPI_COMM_WORLD);
			MPI_Isend(out, first, MPI_BYTE, 1, 0, MPI_COMM_WORLD,
				  &request);
			if (i % 4 == 0)
				MPI_Ssend(out, second, MPI_BYTE, 1, crossed,
					  MPI_COMM_WORLD);
			else
				MPI_Send(out, second, MPI_BYTE, 1, crossed,
					 MPI_COMM_WORLD);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			if (i % 8 == 0)
				MPI_Recv(out, 1, MPI_BYTE, 1, 9, MPI_COMM_WORLD,
					 MPI_STATUS_IGNORE);
			continue;
		}
		if (wild)
			MPI_Irecv(any, 8, MPI_BYTE, 0, MPI_ANY_TAG,
				  MPI_COMM_WORLD, &request);
		for (int j = 0; j < 2; j++) {
			MPI_Recv(got, sizeof(got), MPI_BYTE, 0,
				 crossed ? !j : 0, MPI_COMM_WORLD, &status);
			MPI_Get_count(&status, MPI_BYTE, &n);
			held = held && n == (crossed == j ? first : second) &&
			       (!n ||
				(got[0] == i % 100 && got[n - 1] == i % 100));
		}
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		held = held && (!wild || any[7] == i % 100);
		if (i % 8 == 0)
			MPI_Send(got, 1, MPI_BYTE, 0, 9, MPI_COMM_WORLD);
	}
	all_ok(held, "of %d of all lengths each receive gets its own", count);
}

/* With the next rank; bytes are sent, and at most `room` received. */
static int exchange(long long *value, int bytes, int room, int replaces,
		    MPI_Status *status)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	long long out = *value;

	if (replaces)
		return MPI_Sendrecv_replace(value, bytes, MPI_BYTE, to, 5, from,
					    5, MPI_COMM_WORLD, status);
	*value = 0;
	return MPI_Sendrecv(&out, bytes, MPI_BYTE, to, 5, value, room, MPI_BYTE,
			    from, 5, MPI_COMM_WORLD, status);
}

static void exchanges(void)
{
	int from = (rank + size - 1) % size, count, rc;
	MPI_Status status;
	bool held = true;

	for (int i = 0; i < 100; i++) {
		long long value = 1000 * i + rank;

		rc = exchange(&value, 8, 8, i % 2, &status);
		MPI_Get_count(&status, MPI_BYTE, &count);
		held = held && !rc && value == 1000 * i + from && count == 8 &&
		       status.MPI_SOURCE == from && status.MPI_TAG == 5;
	}
	all_ok(held, "exchanges in a circle");
	for (int i = 0; i < 10; i++) {
		long long got = 0, value = i;

		rc = MPI_Sendrecv(&value, 8, MPI_BYTE, rank, i, &got, 8,
				  MPI_BYTE, rank, i, MPI_COMM_WORLD, &status);
		held = held && !rc && got == i && status.MPI_SOURCE == rank;
	}
	all_ok(held, "and with oneself");
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < 4; i++) {
		long long value = -1;

		/* Some come first, some are waited for. */
		if (i == rank % 2)
			MPI_Barrier(MPI_COMM_SELF);
		rc = exchange(&value, 8, 4, 0, &status);
		held = held && rc == MPI_ERR_TRUNCATE &&
		       status.MPI_SOURCE == from;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	all_ok(held, "a message that is too long is MPI_ERR_TRUNCATE");
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
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
		early();
		many(1000);
		mixed(4000);
		for (int way = 0; way < 4; way++)
			windows(way);
		exchanges();
	}
	errors();
	return mtap_end();
}
