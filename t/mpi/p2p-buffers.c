/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers for buffered sends: of the rank, of communicators, automatic ones;
 * flushing and detaching.
 */
#include <pthread.h>

#include "mtap.h"

enum { LONG = 200000, ROOM = LONG * (int)sizeof(int) + MPI_BSEND_OVERHEAD };

static int next, before;
static int out[LONG], in[LONG];
static char memory[ROOM];

/* Long messages stay in the buffer until they are received. */
static void send_long(MPI_Comm comm, int tag)
{
	out[0] = rank;
	out[LONG - 1] = tag;
	MPI_Bsend(out, LONG, MPI_INT, next, tag, comm);
	memset(out, 0xff, sizeof(out));
}

static bool recv_long(MPI_Comm comm, int tag)
{
	MPI_Recv(in, LONG, MPI_INT, before, tag, comm, MPI_STATUS_IGNORE);
	return in[0] == before && in[LONG - 1] == tag;
}

static void automatic(void)
{
	void *back = NULL;
	int bytes = -1;
	bool held = true;

	MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
	for (int i = 0; i < 20; i++)
		send_long(MPI_COMM_WORLD, i);
	for (int i = 0; i < 20; i++)
		held = recv_long(MPI_COMM_WORLD, i) && held;
	all_ok(held, "an automatic buffer has room for everything");
	MPI_Buffer_detach(&back, &bytes);
	all_ok(back == MPI_BUFFER_AUTOMATIC && bytes == 0,
	       "it is given back as what it is");
}

static void flushed(void)
{
	MPI_Request request;
	int flag = 1;
	bool early = false, held;

	MPI_Buffer_attach(memory, ROOM);
	MPI_Buffer_flush();
	MPI_Buffer_iflush(&request);
	MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	all_ok(flag, "an empty buffer is flushed at once");

	send_long(MPI_COMM_WORLD, 1);
	MPI_Buffer_iflush(&request);
	everybody();
	for (int i = 0; i < 20; i++) {
		MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
		early = early || flag;
	}
	everybody();
	held = recv_long(MPI_COMM_WORLD, 1);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	all_ok(!early, "MPI_Buffer_iflush waits for a message in the buffer");
	all_ok(held, "which arrives");
	send_long(MPI_COMM_WORLD, 2);
	held = recv_long(MPI_COMM_WORLD, 2);
	MPI_Buffer_flush();
	send_long(MPI_COMM_WORLD, 3);
	held = recv_long(MPI_COMM_WORLD, 3) && held;
	all_ok(held, "after a flush the room is free again");
	MPI_Buffer_flush();
}

static void later_messages(void)
{
	MPI_Request first, second;
	int flag = 1;

	MPI_Buffer_flush();
	MPI_Comm_attach_buffer(MPI_COMM_SELF, MPI_BUFFER_AUTOMATIC, 0);
	MPI_Bsend(out, LONG, MPI_INT, 0, 1, MPI_COMM_SELF);
	MPI_Comm_iflush_buffer(MPI_COMM_SELF, &first);
	MPI_Bsend(out, LONG, MPI_INT, 0, 2, MPI_COMM_SELF);
	MPI_Comm_iflush_buffer(MPI_COMM_SELF, &second);
	MPI_Recv(in, LONG, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	MPI_Wait(&first, MPI_STATUS_IGNORE);
	MPI_Test(&second, &flag, MPI_STATUS_IGNORE);
	all_ok(!flag, "a flush waits for no later message");
	MPI_Recv(in, LONG, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	MPI_Wait(&second, MPI_STATUS_IGNORE);
}

static void detach_self(void)
{
	MPI_Count bytes = -1;
	void *back;

	MPI_Comm_detach_buffer_c(MPI_COMM_SELF, &back, &bytes);
	all_ok(back == MPI_BUFFER_AUTOMATIC && bytes == 0,
	       "MPI_Comm_detach_buffer_c gives it back");
}

/* The rank's buffer, memory, is attached. */
static void of_comm(void)
{
	static char own[ROOM];
	MPI_Comm comm;
	int rc, bytes = -1;
	void *back = NULL;
	bool held;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	MPI_Comm_attach_buffer(comm, own, 16);
	rc = MPI_Comm_attach_buffer_c(comm, own, ROOM);
	all_class(rc, MPI_ERR_BUFFER, "a communicator has one buffer");
	rc = MPI_Bsend(out, 1, MPI_INT, next, 1, comm);
	all_class(rc, MPI_ERR_BUFFER,
		  "its own is used, though it is too small");
	MPI_Comm_detach_buffer(comm, &back, &bytes);
	all_ok(back == own && bytes == 16, "and given back");
	send_long(comm, 2);
	held = recv_long(comm, 2);
	all_ok(held, "then the rank's is used");
	/* The next one may not have received it yet. */
	MPI_Buffer_flush();

	MPI_Comm_attach_buffer_c(comm, own, ROOM);
	send_long(comm, 3);
	send_long(MPI_COMM_WORLD, 3);
	held = recv_long(MPI_COMM_WORLD, 3);
	held = recv_long(comm, 3) && held;
	all_ok(held, "messages lie in both at the same time");
	MPI_Comm_flush_buffer(comm);
	MPI_Buffer_flush();
	send_long(comm, 4);
	MPI_Irecv(in, LONG, MPI_INT, before, 4, comm, &(MPI_Request){ 0 });
	MPI_Comm_free(&comm);
	memset(own, 0, sizeof(own));
	everybody();
	all_ok(in[0] == before && in[LONG - 1] == 4,
	       "MPI_Comm_free waits for what is in the buffer");
}

static void *flush_all(void *arg)
{
	MPI_Request request;

	for (int i = 0; i < 20; i++) {
		MPI_Buffer_flush();
		MPI_Buffer_iflush(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	return arg;
}

static void threads(void)
{
	pthread_t thread[2];
	bool held = true;

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, flush_all, NULL);
	for (int i = 0; i < 20; i++) {
		send_long(MPI_COMM_WORLD, i);
		held = recv_long(MPI_COMM_WORLD, i) && held;
		MPI_Buffer_flush();
	}
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	all_ok(held, "threads flush the same buffer at the same time");
}

static void persistent(void)
{
	MPI_Request request;
	bool held = true;

	MPI_Bsend_init(out, LONG, MPI_INT, next, 5, MPI_COMM_WORLD, &request);
	for (int i = 0; i < 3; i++) {
		out[0] = rank;
		out[LONG - 1] = 5;
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		held = recv_long(MPI_COMM_WORLD, 5) && held;
		MPI_Buffer_flush();
	}
	MPI_Request_free(&request);
	all_ok(held, "persistent sends take the buffer at each start");
}

static void errors(void)
{
	MPI_Comm null = MPI_COMM_NULL;
	MPI_Count bytes = -1;
	void *back = NULL;
	int flag = 0, small = -1;
	MPI_Request request = MPI_REQUEST_NULL;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	all_class(MPI_Buffer_attach(memory, ROOM), MPI_ERR_BUFFER,
		  "a rank has one buffer");
	MPI_Buffer_detach_c(&back, &bytes);
	all_ok(back == memory && bytes == ROOM,
	       "MPI_Buffer_detach_c gives the buffer back");
	all_class(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &back, &small),
		  MPI_ERR_BUFFER, "without a buffer nothing is detached");
	all_class(MPI_Buffer_attach_c(memory, -1), MPI_ERR_ARG,
		  "a buffer has no negative size");
	all_class(MPI_Comm_iflush_buffer(null, &request), MPI_ERR_COMM,
		  "MPI_COMM_NULL has no buffer");
	all_class(MPI_Bsend(out, 1, MPI_INT, next, 1, MPI_COMM_WORLD),
		  MPI_ERR_BUFFER, "MPI_Bsend needs a buffer");
	MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &request);
	MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	all_ok(flag, "without a buffer there is nothing to flush");
}

/* Frees what is attached when MPI_Finalize has returned. */
static char *left;

int main(int argc, char **argv)
{
	MPI_Comm comm;
	int result;

	mtap_init(&argc, &argv);
	next = (rank + 1) % size;
	before = (rank + size - 1) % size;
	automatic();
	flushed();
	later_messages();
	detach_self();
	of_comm();
	threads();
	persistent();
	errors();
	left = malloc(4096);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_attach_buffer(comm, left, 4096);
	MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
	result = mtap_end();
	free(left);
	return result;
}
