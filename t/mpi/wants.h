/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of erroneous calls: a row is a class and the call that must return it.
 *
 *	static void barrier_errors(void)
 *	{
 *		WANTS(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
 *	}
 *
 * The name of a check is its call.  Only ranks of ranks.h, whose errors return.
 */
#ifndef T_MPI_WANTS_H
#define T_MPI_WANTS_H

#include <string.h>

#include "ranks.h"

#define WANTS(class, call) wants(call, class, #call)

static inline void wants(int code, int class, const char *call)
{
	char name[MPI_MAX_ERROR_STRING];
	int got = -1, length;

	MPI_Error_class(code, &got);
	MPI_Error_string(class, name, &length);
	name[strcspn(name, ":")] = '\0';
	if (!ok(got == class, "%s: %s", name, call))
		diag("the class is %d, not %d", got, class);
}

/* Copies of freed handles, unknown to the library. */
struct freed {
	MPI_Comm comm;
	MPI_Group group;
	MPI_Datatype type;
	MPI_Op op;
	MPI_Info info;
	MPI_Errhandler errhandler;
	MPI_Request request, persistent;
	int comm_key, type_key;
};

static inline void freed_errhandler(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
}

static inline void freed_op(void *in, void *inout, int *count,
			    MPI_Datatype *type)
{
	(void)in;
	(void)inout;
	(void)count;
	(void)type;
}

static inline void freed_requests(struct freed *freed)
{
	static int place;
	MPI_Request request;

	MPI_Irecv(&place, 1, MPI_INT, 0, 77, MPI_COMM_SELF, &request);
	freed->request = request;
	MPI_Request_free(&request);
	MPI_Send(&place, 1, MPI_INT, 0, 77, MPI_COMM_SELF);
	MPI_Recv_init(&place, 1, MPI_INT, 0, 77, MPI_COMM_SELF, &request);
	freed->persistent = request;
	MPI_Request_free(&request);
}

static inline struct freed freed_handles(void)
{
	struct freed freed, copy;

	MPI_Comm_dup(MPI_COMM_SELF, &freed.comm);
	MPI_Comm_group(MPI_COMM_SELF, &freed.group);
	MPI_Type_contiguous(2, MPI_INT, &freed.type);
	MPI_Type_commit(&freed.type);
	MPI_Op_create(freed_op, 1, &freed.op);
	MPI_Info_create(&freed.info);
	MPI_Comm_create_errhandler(freed_errhandler, &freed.errhandler);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
			       &freed.comm_key, NULL);
	MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN,
			       &freed.type_key, NULL);
	copy = freed;
	MPI_Comm_free(&copy.comm);
	MPI_Group_free(&copy.group);
	MPI_Type_free(&copy.type);
	MPI_Op_free(&copy.op);
	MPI_Info_free(&copy.info);
	MPI_Errhandler_free(&copy.errhandler);
	MPI_Comm_free_keyval(&copy.comm_key);
	MPI_Type_free_keyval(&copy.type_key);
	freed_requests(&freed);
	return freed;
}

#endif
