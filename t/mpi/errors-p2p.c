/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Invalid arguments of point-to-point calls, call by call: sends, receives,
 * persistent requests, probes, completion, buffers, statuses.
 */
#include "wants.h"

#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static int x[4], size;
static MPI_Datatype uncommitted;
static MPI_Request request, none = MPI_REQUEST_NULL;
static MPI_Message message;
static MPI_Status status;

/* Common arguments of all send calls. */
#define SENDS(call, ...)                                                       \
	WANTS(MPI_ERR_COMM,                                                    \
	      call(x, 1, MPI_INT, 0, 0, MPI_COMM_NULL __VA_ARGS__));           \
	WANTS(MPI_ERR_COUNT, call(x, -1, MPI_INT, 0, 0, WORLD __VA_ARGS__));   \
	WANTS(MPI_ERR_TYPE,                                                    \
	      call(x, 1, MPI_DATATYPE_NULL, 0, 0, WORLD __VA_ARGS__));         \
	WANTS(MPI_ERR_TYPE, call(x, 1, uncommitted, 0, 0, WORLD __VA_ARGS__)); \
	WANTS(MPI_ERR_RANK, call(x, 1, MPI_INT, size, 0, WORLD __VA_ARGS__));  \
	WANTS(MPI_ERR_RANK,                                                    \
	      call(x, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD __VA_ARGS__));      \
	WANTS(MPI_ERR_TAG, call(x, 1, MPI_INT, 0, -5, WORLD __VA_ARGS__));     \
	WANTS(MPI_ERR_TAG,                                                     \
	      call(x, 1, MPI_INT, 0, MPI_ANY_TAG, WORLD __VA_ARGS__));         \
	WANTS(MPI_ERR_BUFFER,                                                  \
	      call(NULL, 1, MPI_INT, 0, 0, WORLD __VA_ARGS__));                \
	WANTS(MPI_SUCCESS,                                                     \
	      call(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, WORLD __VA_ARGS__))

#define ISENDS(call)                                                        \
	do {                                                                \
		SENDS(call, , &request);                                    \
		if (request != MPI_REQUEST_NULL)                            \
			WANTS(MPI_SUCCESS, MPI_Request_free(&request));     \
		WANTS(MPI_ERR_ARG, call(x, 1, MPI_INT, 0, 0, WORLD, NULL)); \
	} while (0)

static void sends(void)
{
	static char buffer[1000 + MPI_BSEND_OVERHEAD];

	SENDS(MPI_Send);
	SENDS(MPI_Ssend);
	SENDS(MPI_Rsend);
	ISENDS(MPI_Isend);
	ISENDS(MPI_Issend);
	ISENDS(MPI_Irsend);
	ISENDS(MPI_Send_init);
	ISENDS(MPI_Ssend_init);
	ISENDS(MPI_Rsend_init);
	ISENDS(MPI_Bsend_init);
	WANTS(MPI_ERR_BUFFER, MPI_Bsend(x, 1, MPI_INT, 0, 0, WORLD));
	WANTS(MPI_ERR_BUFFER, MPI_Ibsend(x, 1, MPI_INT, 0, 0, WORLD, &request));
	WANTS(MPI_ERR_ARG, MPI_Buffer_attach(buffer, -1));
	WANTS(MPI_ERR_ARG, MPI_Buffer_attach(NULL, 100));
	MPI_Buffer_attach(buffer, sizeof(buffer));
	WANTS(MPI_ERR_BUFFER, MPI_Buffer_attach(buffer, sizeof(buffer)));
	SENDS(MPI_Bsend);
	ISENDS(MPI_Ibsend);
	WANTS(MPI_ERR_BUFFER,
	      MPI_Bsend(buffer, sizeof(buffer), MPI_CHAR, 0, 0, WORLD));
}

static void detach(void)
{
	void *buffer;
	int bytes;

	WANTS(MPI_ERR_ARG, MPI_Buffer_detach(NULL, &bytes));
	WANTS(MPI_ERR_ARG, MPI_Buffer_detach(&buffer, NULL));
	WANTS(MPI_SUCCESS, MPI_Buffer_detach(&buffer, &bytes));
	WANTS(MPI_ERR_BUFFER, MPI_Buffer_detach(&buffer, &bytes));
}

#define RECVS(call, last)                                                      \
	WANTS(MPI_ERR_COMM, call(x, 1, MPI_INT, 0, 0, MPI_COMM_NULL, last));   \
	WANTS(MPI_ERR_COUNT, call(x, -1, MPI_INT, 0, 0, WORLD, last));         \
	WANTS(MPI_ERR_TYPE, call(x, 1, MPI_DATATYPE_NULL, 0, 0, WORLD, last)); \
	WANTS(MPI_ERR_TYPE, call(x, 1, uncommitted, 0, 0, WORLD, last));       \
	WANTS(MPI_ERR_RANK, call(x, 1, MPI_INT, size, 0, WORLD, last));        \
	WANTS(MPI_ERR_RANK, call(x, 1, MPI_INT, -77, 0, WORLD, last));         \
	WANTS(MPI_ERR_TAG, call(x, 1, MPI_INT, 0, -77, WORLD, last));          \
	WANTS(MPI_ERR_BUFFER, call(NULL, 1, MPI_INT, 0, 0, WORLD, last))

static void recvs(void)
{
	RECVS(MPI_Recv, IGNORE);
	RECVS(MPI_Irecv, &request);
	RECVS(MPI_Recv_init, &request);
	WANTS(MPI_ERR_ARG, MPI_Irecv(x, 1, MPI_INT, 0, 0, WORLD, NULL));
	WANTS(MPI_ERR_ARG, MPI_Recv_init(x, 1, MPI_INT, 0, 0, WORLD, NULL));
}

#define SENDRECV(class, sbuf, scount, stype, dest, stag, rbuf, rcount, rtype, \
		 source, rtag, comm)                                          \
	WANTS(class, MPI_Sendrecv(sbuf, scount, stype, dest, stag, rbuf,      \
				  rcount, rtype, source, rtag, comm, IGNORE))

static void sendrecvs(void)
{
	int y;

	SENDRECV(MPI_ERR_COMM, x, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0,
		 MPI_COMM_NULL);
	SENDRECV(MPI_ERR_COUNT, x, -1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0,
		 WORLD);
	SENDRECV(MPI_ERR_COUNT, x, 1, MPI_INT, 0, 0, &y, -1, MPI_INT, 0, 0,
		 WORLD);
	SENDRECV(MPI_ERR_TYPE, x, 1, uncommitted, 0, 0, &y, 1, MPI_INT, 0, 0,
		 WORLD);
	SENDRECV(MPI_ERR_TYPE, x, 1, MPI_INT, 0, 0, &y, 1, MPI_DATATYPE_NULL, 0,
		 0, WORLD);
	SENDRECV(MPI_ERR_RANK, x, 1, MPI_INT, size, 0, &y, 1, MPI_INT, 0, 0,
		 WORLD);
	SENDRECV(MPI_ERR_RANK, x, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, size, 0,
		 WORLD);
	SENDRECV(MPI_ERR_TAG, x, 1, MPI_INT, 0, -9, &y, 1, MPI_INT, 0, 0,
		 WORLD);
	SENDRECV(MPI_ERR_TAG, x, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, -9,
		 WORLD);
	SENDRECV(MPI_ERR_BUFFER, NULL, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0,
		 WORLD);
	SENDRECV(MPI_ERR_BUFFER, x, 1, MPI_INT, 0, 0, NULL, 1, MPI_INT, 0, 0,
		 WORLD);
	SENDRECV(MPI_ERR_TRUNCATE, x, 2, MPI_INT, 0, 3, &y, 1, MPI_INT, 0, 3,
		 MPI_COMM_SELF);
#define REPLACE(class, buf, count, type, dest, stag, source, rtag, comm) \
	WANTS(class, MPI_Sendrecv_replace(buf, count, type, dest, stag,  \
					  source, rtag, comm, IGNORE))
	REPLACE(MPI_ERR_COMM, x, 1, MPI_INT, 0, 0, 0, 0, MPI_COMM_NULL);
	REPLACE(MPI_ERR_COUNT, x, -1, MPI_INT, 0, 0, 0, 0, WORLD);
	REPLACE(MPI_ERR_TYPE, x, 1, uncommitted, 0, 0, 0, 0, WORLD);
	REPLACE(MPI_ERR_RANK, x, 1, MPI_INT, size, 0, 0, 0, WORLD);
	REPLACE(MPI_ERR_RANK, x, 1, MPI_INT, 0, 0, size, 0, WORLD);
	REPLACE(MPI_ERR_TAG, x, 1, MPI_INT, 0, -9, 0, 0, WORLD);
	REPLACE(MPI_ERR_TAG, x, 1, MPI_INT, 0, 0, 0, -9, WORLD);
	REPLACE(MPI_ERR_BUFFER, NULL, 1, MPI_INT, 0, 0, 0, 0, WORLD);
}

#define PROBES(call, ...)                                            \
	WANTS(MPI_ERR_COMM, call(0, 0, MPI_COMM_NULL, __VA_ARGS__)); \
	WANTS(MPI_ERR_RANK, call(size, 0, WORLD, __VA_ARGS__));      \
	WANTS(MPI_ERR_TAG, call(0, -77, WORLD, __VA_ARGS__))

static void probes(void)
{
	int flag;

	PROBES(MPI_Probe, IGNORE);
	PROBES(MPI_Iprobe, &flag, IGNORE);
	PROBES(MPI_Mprobe, &message, IGNORE);
	PROBES(MPI_Improbe, &flag, &message, IGNORE);
	WANTS(MPI_ERR_ARG, MPI_Iprobe(0, 0, WORLD, NULL, IGNORE));
	WANTS(MPI_ERR_ARG, MPI_Mprobe(0, 0, WORLD, NULL, IGNORE));
	WANTS(MPI_ERR_ARG, MPI_Improbe(0, 0, WORLD, NULL, &message, IGNORE));
	WANTS(MPI_ERR_ARG, MPI_Improbe(0, 0, WORLD, &flag, NULL, IGNORE));
	message = MPI_MESSAGE_NULL;
	WANTS(MPI_ERR_ARG, MPI_Mrecv(x, 1, MPI_INT, &message, IGNORE));
	WANTS(MPI_ERR_ARG, MPI_Mrecv(x, 1, MPI_INT, NULL, IGNORE));
	WANTS(MPI_ERR_ARG, MPI_Imrecv(x, 1, MPI_INT, &message, &request));
	WANTS(MPI_ERR_ARG, MPI_Imrecv(x, 1, MPI_INT, NULL, &request));
}

/* A matched message stays matched after an erroneous receive. */
static void matched(void)
{
	MPI_Send(x, 2, MPI_INT, 0, 8, MPI_COMM_SELF);
	MPI_Mprobe(0, 8, MPI_COMM_SELF, &message, IGNORE);
	WANTS(MPI_ERR_COUNT, MPI_Mrecv(x, -1, MPI_INT, &message, IGNORE));
	WANTS(MPI_ERR_TYPE, MPI_Mrecv(x, 1, uncommitted, &message, IGNORE));
	WANTS(MPI_ERR_BUFFER, MPI_Mrecv(NULL, 1, MPI_INT, &message, IGNORE));
	WANTS(MPI_ERR_COUNT, MPI_Imrecv(x, -1, MPI_INT, &message, &request));
	WANTS(MPI_ERR_TYPE,
	      MPI_Imrecv(x, 1, MPI_DATATYPE_NULL, &message, &request));
	WANTS(MPI_ERR_BUFFER, MPI_Imrecv(NULL, 1, MPI_INT, &message, &request));
	WANTS(MPI_ERR_ARG, MPI_Imrecv(x, 2, MPI_INT, &message, NULL));
	WANTS(MPI_ERR_TRUNCATE, MPI_Mrecv(x, 1, MPI_INT, &message, IGNORE));
	ok(message == MPI_MESSAGE_NULL, "a short receive ends the message");
}

static void completion(void)
{
	MPI_Request bad = (MPI_Request)(MPI_Aint)77;
	int flag, n, indices[2];

	WANTS(MPI_ERR_ARG, MPI_Wait(NULL, IGNORE));
	WANTS(MPI_ERR_REQUEST, MPI_Wait(&bad, IGNORE));
	WANTS(MPI_ERR_ARG, MPI_Test(NULL, &flag, IGNORE));
	WANTS(MPI_ERR_ARG, MPI_Test(&none, NULL, IGNORE));
	WANTS(MPI_ERR_REQUEST, MPI_Test(&bad, &flag, IGNORE));
	WANTS(MPI_ERR_ARG, MPI_Request_get_status(none, NULL, IGNORE));
	WANTS(MPI_ERR_REQUEST, MPI_Request_get_status(bad, &flag, IGNORE));
#define MANY(call, ...)                                     \
	WANTS(MPI_ERR_COUNT, call(-1, &none, __VA_ARGS__)); \
	WANTS(MPI_ERR_ARG, call(1, NULL, __VA_ARGS__));     \
	WANTS(MPI_ERR_REQUEST, call(1, &bad, __VA_ARGS__)); \
	WANTS(MPI_SUCCESS, call(0, NULL, __VA_ARGS__))
	MANY(MPI_Waitall, MPI_STATUSES_IGNORE);
	MANY(MPI_Testall, &flag, MPI_STATUSES_IGNORE);
	MANY(MPI_Waitany, &n, IGNORE);
	MANY(MPI_Testany, &n, &flag, IGNORE);
	MANY(MPI_Waitsome, &n, indices, MPI_STATUSES_IGNORE);
	MANY(MPI_Testsome, &n, indices, MPI_STATUSES_IGNORE);
	WANTS(MPI_ERR_ARG, MPI_Testall(1, &none, NULL, MPI_STATUSES_IGNORE));
	WANTS(MPI_ERR_ARG, MPI_Waitany(1, &none, NULL, IGNORE));
	WANTS(MPI_ERR_ARG, MPI_Testany(1, &none, NULL, &flag, IGNORE));
	WANTS(MPI_ERR_ARG, MPI_Testany(1, &none, &n, NULL, IGNORE));
	WANTS(MPI_ERR_ARG,
	      MPI_Waitsome(1, &none, NULL, indices, MPI_STATUSES_IGNORE));
	WANTS(MPI_ERR_ARG,
	      MPI_Waitsome(1, &none, &n, NULL, MPI_STATUSES_IGNORE));
	WANTS(MPI_ERR_ARG,
	      MPI_Testsome(1, &none, NULL, indices, MPI_STATUSES_IGNORE));
	WANTS(MPI_ERR_ARG, MPI_Cancel(NULL));
	WANTS(MPI_ERR_REQUEST, MPI_Cancel(&none));
	WANTS(MPI_ERR_ARG, MPI_Request_free(NULL));
	WANTS(MPI_ERR_REQUEST, MPI_Request_free(&none));
	WANTS(MPI_ERR_ARG, MPI_Start(NULL));
	WANTS(MPI_ERR_REQUEST, MPI_Start(&none));
	WANTS(MPI_ERR_COUNT, MPI_Startall(-1, &none));
	WANTS(MPI_ERR_ARG, MPI_Startall(1, NULL));
	WANTS(MPI_ERR_REQUEST, MPI_Startall(1, &none));
}

static void persistent(void)
{
	int flag;

	MPI_Recv_init(x, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &request);
	WANTS(MPI_ERR_REQUEST, MPI_Cancel(&request));
	MPI_Start(&request);
	WANTS(MPI_ERR_REQUEST, MPI_Start(&request));
	WANTS(MPI_ERR_REQUEST, MPI_Startall(1, &request));
	MPI_Send(x, 2, MPI_INT, 0, 9, MPI_COMM_SELF);
	WANTS(MPI_ERR_TRUNCATE, MPI_Test(&request, &flag, IGNORE));
	ok(request != MPI_REQUEST_NULL, "it can be started again");
	MPI_Request_free(&request);
}

/* The two that are short, among others, in every way to complete several. */
static void truncated(void)
{
	MPI_Request requests[3];
	MPI_Status statuses[3];
	int n, flag, indices[3];

	for (int way = 0; way < 4; way++) {
		for (int i = 0; i < 3; i++) {
			MPI_Irecv(&x[i], 1, MPI_INT, 0, i, MPI_COMM_SELF,
				  &requests[i]);
			MPI_Send(x, 1 + (i > 0), MPI_INT, 0, i, MPI_COMM_SELF);
		}
		if (way == 0)
			WANTS(MPI_ERR_IN_STATUS,
			      MPI_Waitall(3, requests, statuses));
		else if (way == 1)
			WANTS(MPI_ERR_IN_STATUS,
			      MPI_Testall(3, requests, &flag, statuses));
		else if (way == 2)
			WANTS(MPI_ERR_IN_STATUS,
			      MPI_Waitsome(3, requests, &n, indices, statuses));
		else
			WANTS(MPI_ERR_IN_STATUS,
			      MPI_Testsome(3, requests, &n, indices, statuses));
		ok(statuses[0].MPI_ERROR == MPI_SUCCESS &&
			   statuses[1].MPI_ERROR == MPI_ERR_TRUNCATE &&
			   statuses[2].MPI_ERROR == MPI_ERR_TRUNCATE,
		   "the statuses say which are short");
		ok(requests[0] == none && requests[1] == none &&
			   requests[2] == none,
		   "all requests are complete");
	}
	for (int way = 0; way < 2; way++) {
		MPI_Irecv(x, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &requests[0]);
		MPI_Send(x, 2, MPI_INT, 0, 4, MPI_COMM_SELF);
		if (way == 0)
			WANTS(MPI_ERR_TRUNCATE,
			      MPI_Waitany(1, requests, &n, IGNORE));
		else
			WANTS(MPI_ERR_TRUNCATE,
			      MPI_Testany(1, requests, &n, &flag, IGNORE));
		is_int(n, 0, "the index says which one");
	}
}

static void statuses(void)
{
	MPI_Count many;
	int n;

#define GETS(call, n)                                     \
	WANTS(MPI_ERR_ARG, call(NULL, MPI_INT, &n));      \
	WANTS(MPI_ERR_ARG, call(&status, MPI_INT, NULL)); \
	WANTS(MPI_ERR_TYPE, call(&status, MPI_DATATYPE_NULL, &n))
	GETS(MPI_Get_count, n);
	GETS(MPI_Get_elements, n);
	GETS(MPI_Get_elements_x, many);
	WANTS(MPI_ERR_ARG, MPI_Test_cancelled(NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Test_cancelled(&status, NULL));
	WANTS(MPI_ERR_ARG, MPI_Status_set_cancelled(NULL, 1));
	WANTS(MPI_ERR_ARG, MPI_Status_set_elements(NULL, MPI_INT, 1));
	WANTS(MPI_ERR_TYPE,
	      MPI_Status_set_elements(&status, MPI_DATATYPE_NULL, 1));
	WANTS(MPI_ERR_COUNT, MPI_Status_set_elements(&status, MPI_INT, -1));
	WANTS(MPI_ERR_ARG, MPI_Status_set_elements_x(NULL, MPI_INT, 1));
	WANTS(MPI_ERR_TYPE,
	      MPI_Status_set_elements_x(&status, MPI_DATATYPE_NULL, 1));
	WANTS(MPI_ERR_COUNT, MPI_Status_set_elements_x(&status, MPI_INT, -1));
#define FIELDS(get, set)                        \
	WANTS(MPI_ERR_ARG, get(NULL, &n));      \
	WANTS(MPI_ERR_ARG, get(&status, NULL)); \
	WANTS(MPI_ERR_ARG, set(NULL, 1))
	FIELDS(MPI_Status_get_source, MPI_Status_set_source);
	FIELDS(MPI_Status_get_tag, MPI_Status_set_tag);
	FIELDS(MPI_Status_get_error, MPI_Status_set_error);
}

static void body(int rank, int ranks)
{
	if (rank != 0)
		return;
	size = ranks;
	request = MPI_REQUEST_NULL;
	MPI_Type_contiguous(2, MPI_INT, &uncommitted);
	sends();
	detach();
	recvs();
	sendrecvs();
	probes();
	matched();
	completion();
	persistent();
	truncated();
	statuses();
	MPI_Type_free(&uncommitted);
}

int main(void)
{
	ranks_run(2, 1, body);
	return done_testing();
}
