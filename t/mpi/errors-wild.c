/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles that are none: numbers, addresses of other things or of nothing, and
 * handles of another kind.  Each is refused, and none is followed.
 */
#include <sys/mman.h>

#include "wants.h"

static char *gone; /* there was memory, and there is none any more */
static char other[4096];
static MPI_Comm comm;
static MPI_Datatype type;
static MPI_Request pending;

#define WILDS 8

static void *wild(int i)
{
	void *const values[WILDS] = {
		(void *)0x77, (void *)0x4444, (void *)0xdeadbeef000, (void *)-1,
		gone,	      other,	      (void *)pending,	     &i,
	};

	return values[i];
}

static void comms_types(void *value)
{
	MPI_Comm c = value;
	MPI_Datatype t = value, out;
	int x = 0;

	WANTS(MPI_ERR_COMM, MPI_Send(&x, 1, MPI_INT, 0, 0, c));
	WANTS(MPI_ERR_COMM, MPI_Bcast(&x, 1, MPI_INT, 0, c));
	WANTS(MPI_ERR_COMM, MPI_Comm_rank(c, &x));
	WANTS(MPI_ERR_COMM, MPI_Comm_free(&c));
	WANTS(MPI_ERR_TYPE, MPI_Send(&x, 1, t, 0, 0, MPI_COMM_SELF));
	WANTS(MPI_ERR_TYPE, MPI_Bcast(&x, 1, t, 0, MPI_COMM_SELF));
	WANTS(MPI_ERR_TYPE, MPI_Type_contiguous(2, t, &out));
	WANTS(MPI_ERR_TYPE, MPI_Type_free(&t));
}

static void requests(void *value)
{
	MPI_Request r = value, two[2] = { pending, value };
	MPI_Message message = value;
	int flag, x;

	WANTS(MPI_ERR_ARG,
	      MPI_Mrecv(&x, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
	WANTS(MPI_ERR_ARG, MPI_Imrecv(&x, 1, MPI_INT, &message, &r));
	if (r == pending)
		return;
	WANTS(MPI_ERR_REQUEST, MPI_Wait(&r, MPI_STATUS_IGNORE));
	WANTS(MPI_ERR_REQUEST, MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
	WANTS(MPI_ERR_REQUEST, MPI_Waitall(2, two, MPI_STATUSES_IGNORE));
	WANTS(MPI_ERR_REQUEST, MPI_Waitany(2, two, &x, MPI_STATUS_IGNORE));
	WANTS(MPI_ERR_REQUEST, MPI_Request_free(&r));
	WANTS(MPI_ERR_REQUEST, MPI_Start(&r));
	WANTS(MPI_ERR_REQUEST, MPI_Cancel(&r));
}

static void others(void *value)
{
	MPI_Op op = value;
	MPI_Group group = value;
	MPI_Info info = value;
	MPI_Errhandler errhandler = value;
	int x = 0, y;

	WANTS(MPI_ERR_OP, MPI_Reduce_local(&x, &y, 1, MPI_INT, op));
	WANTS(MPI_ERR_OP, MPI_Allreduce(&x, &y, 1, MPI_INT, op, MPI_COMM_SELF));
	WANTS(MPI_ERR_OP, MPI_Op_free(&op));
	WANTS(MPI_ERR_GROUP, MPI_Group_size(group, &y));
	WANTS(MPI_ERR_GROUP, MPI_Group_free(&group));
	WANTS(MPI_ERR_INFO, MPI_Info_set(info, "a", "b"));
	WANTS(MPI_ERR_INFO, MPI_Info_free(&info));
	WANTS(MPI_ERR_ERRHANDLER,
	      MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler));
	WANTS(MPI_ERR_ERRHANDLER, MPI_Errhandler_free(&errhandler));
}

/* A handle of a kind is none of another kind. */
static void mixed(void)
{
	MPI_Request request = (MPI_Request)comm;
	int x = 0;

	WANTS(MPI_ERR_TYPE,
	      MPI_Send(&x, 1, (MPI_Datatype)comm, 0, 0, MPI_COMM_SELF));
	WANTS(MPI_ERR_COMM, MPI_Send(&x, 1, MPI_INT, 0, 0, (MPI_Comm)type));
	WANTS(MPI_ERR_REQUEST, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* A message can be received once. */
static void message_twice(void)
{
	MPI_Message message, copy;
	MPI_Request request;
	int x = 5, y = 0;

	MPI_Isend(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
	MPI_Mprobe(0, 1, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
	copy = message;
	WANTS(MPI_SUCCESS,
	      MPI_Mrecv(&y, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
	WANTS(MPI_ERR_ARG, MPI_Mrecv(&y, 1, MPI_INT, &copy, MPI_STATUS_IGNORE));
	ok(x == y, "it was received the first time");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void body(int rank, int size)
{
	int x;

	(void)rank;
	(void)size;
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Type_contiguous(3, MPI_INT, &type);
	MPI_Irecv(&x, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &pending);
	for (int i = 0; i < WILDS; i++) {
		comms_types(wild(i));
		requests(wild(i));
		others(wild(i));
	}
	mixed();
	message_twice();
	MPI_Cancel(&pending);
	MPI_Wait(&pending, MPI_STATUS_IGNORE);
	MPI_Comm_free(&comm);
	MPI_Type_free(&type);
}

int main(void)
{
	gone = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(gone, 65536);
	ranks_run(1, 1, body);
	return done_testing();
}
