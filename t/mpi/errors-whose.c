/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choice of the error handler: that of the call's or request's communicator;
 * without one that of MPI_COMM_SELF (MPI 4.1, 9.3), or of MPI_COMM_WORLD if
 * only that was set.
 */
#include "ranks.h"

#define SELF MPI_COMM_SELF
#define WORLD MPI_COMM_WORLD

static int calls, code;
static MPI_Comm whose;

static void note(MPI_Comm *comm, int *error, ...)
{
	calls++;
	whose = *comm;
	code = *error;
}

static MPI_Errhandler handler;
static int n, x[4];

/* One call of the handler, with this communicator and class; also the result of
 * the call. */
static void called(int rc, MPI_Comm comm, int class, const char *what)
{
	ok(calls == 1 && whose == comm && code == class && rc == class, "%s",
	   what);
	calls = 0;
}

static void self_has_one(void)
{
	MPI_Comm copy, old;
	MPI_Request request;

	called(MPI_Type_size(MPI_DATATYPE_NULL, &n), SELF, MPI_ERR_TYPE,
	       "a datatype");
	called(MPI_Group_size(MPI_GROUP_NULL, &n), SELF, MPI_ERR_GROUP,
	       "a group");
	called(MPI_Info_get_nkeys(MPI_INFO_NULL, &n), SELF, MPI_ERR_INFO,
	       "an info object");
	called(MPI_Op_commutative(MPI_OP_NULL, &n), SELF, MPI_ERR_OP,
	       "an operation");
	called(MPI_Wait(NULL, MPI_STATUS_IGNORE), SELF, MPI_ERR_ARG,
	       "no request");
	called(MPI_Comm_rank(MPI_COMM_NULL, &n), SELF, MPI_ERR_COMM,
	       "the null communicator");
	called(MPI_Send(x, 1, MPI_INT, 0, -5, SELF), SELF, MPI_ERR_TAG,
	       "a communicator's own");
	MPI_Comm_dup(SELF, &copy);
	called(MPI_Send(x, 1, MPI_INT, 0, -5, copy), copy, MPI_ERR_TAG,
	       "a duplicate has it as well");
	MPI_Irecv(x, 1, MPI_INT, 0, 0, copy, &request);
	MPI_Send(x, 2, MPI_INT, 0, 0, copy);
	called(MPI_Wait(&request, MPI_STATUS_IGNORE), copy, MPI_ERR_TRUNCATE,
	       "a request has that of its communicator");
	MPI_Irecv(x, 1, MPI_INT, 0, 0, SELF, &request);
	MPI_Send(x, 2, MPI_INT, 0, 0, SELF);
	MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
	n = MPI_Send(x, 1, MPI_INT, 0, -5, copy);
	ok(calls == 0 && n == MPI_ERR_TAG, "a handler can be changed");
	n = MPI_Wait(&request, MPI_STATUS_IGNORE);
	ok(n == MPI_ERR_TRUNCATE && calls == 1,
	   "a request of MPI_COMM_SELF has that of MPI_COMM_SELF");
	calls = 0;
	MPI_Irecv(x, 1, MPI_INT, 0, 0, copy, &request);
	MPI_Send(x, 2, MPI_INT, 0, 0, copy);
	old = copy;
	MPI_Comm_free(&copy);
	called(MPI_Wait(&request, MPI_STATUS_IGNORE), SELF, MPI_ERR_TRUNCATE,
	       "a request whose communicator is gone");
	called(MPI_Comm_size(old, &n), SELF, MPI_ERR_COMM,
	       "a communicator that is gone");
}

static void body(int rank, int size)
{
	if (rank >= size)
		return;
	calls = 0;
	MPI_Comm_create_errhandler(note, &handler);
	MPI_Comm_set_errhandler(SELF, handler);
	self_has_one();
	/* The default again, as if it had never been set. */
	MPI_Comm_set_errhandler(SELF, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(WORLD, handler);
	called(MPI_Type_size(MPI_DATATYPE_NULL, &n), WORLD, MPI_ERR_TYPE,
	       "only MPI_COMM_WORLD has a handler");
	MPI_Comm_set_errhandler(SELF, MPI_ERRORS_RETURN);
	n = MPI_Type_size(MPI_DATATYPE_NULL, &n);
	ok(calls == 0 && n == MPI_ERR_TYPE, "that of MPI_COMM_SELF is first");
	called(MPI_Send(x, 1, MPI_INT, 0, -5, WORLD), WORLD, MPI_ERR_TAG,
	       "MPI_COMM_WORLD's own");
	MPI_Errhandler_free(&handler);
}

int main(void)
{
	ranks_run(1, 1, body);
	return done_testing();
}
