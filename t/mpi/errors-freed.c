/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Use of freed handles through a copy: each is recognised, even if the library
 * itself still uses the object.
 */
#include "wants.h"

static struct freed freed;

static void comms(void)
{
	MPI_Request request;
	MPI_Comm out;
	int x = 0, y;

	WANTS(MPI_ERR_COMM, MPI_Comm_rank(freed.comm, &x));
	WANTS(MPI_ERR_COMM, MPI_Send(&x, 1, MPI_INT, 0, 0, freed.comm));
	WANTS(MPI_ERR_COMM,
	      MPI_Irecv(&x, 1, MPI_INT, 0, 0, freed.comm, &request));
	WANTS(MPI_ERR_COMM, MPI_Barrier(freed.comm));
	WANTS(MPI_ERR_COMM, MPI_Ibarrier(freed.comm, &request));
	WANTS(MPI_ERR_COMM, MPI_Comm_dup(freed.comm, &out));
	WANTS(MPI_ERR_COMM,
	      MPI_Comm_set_errhandler(freed.comm, MPI_ERRORS_RETURN));
	WANTS(MPI_ERR_COMM, MPI_Comm_compare(MPI_COMM_SELF, freed.comm, &y));
	WANTS(MPI_ERR_COMM, MPI_Comm_free(&freed.comm));
}

static void types(void)
{
	MPI_Datatype out, built, copy;
	int x[8] = { 0 }, y;

	WANTS(MPI_ERR_TYPE, MPI_Type_size(freed.type, &y));
	WANTS(MPI_ERR_TYPE, MPI_Type_commit(&freed.type));
	WANTS(MPI_ERR_TYPE, MPI_Type_contiguous(1, freed.type, &out));
	WANTS(MPI_ERR_TYPE, MPI_Send(x, 1, freed.type, 0, 0, MPI_COMM_SELF));
	WANTS(MPI_ERR_TYPE, MPI_Bcast(x, 1, freed.type, 0, MPI_COMM_SELF));
	WANTS(MPI_ERR_TYPE, MPI_Type_free(&freed.type));
	/* A type that another one is made of still exists, but its handle is
	 * invalid. */
	MPI_Type_contiguous(2, MPI_INT, &built);
	MPI_Type_contiguous(2, built, &out);
	copy = built;
	MPI_Type_free(&built);
	WANTS(MPI_ERR_TYPE, MPI_Type_size(copy, &y));
	WANTS(MPI_ERR_TYPE, MPI_Type_free(&copy));
	WANTS(MPI_SUCCESS, MPI_Type_free(&out));
}

static void groups_infos_ops(void)
{
	MPI_Group group;
	MPI_Info info;
	MPI_Comm comm;
	int x = 0, y, flag;
	char text[8];

	WANTS(MPI_ERR_GROUP, MPI_Group_size(freed.group, &y));
	WANTS(MPI_ERR_GROUP, MPI_Group_incl(freed.group, 1, &x, &group));
	WANTS(MPI_ERR_GROUP,
	      MPI_Group_union(MPI_GROUP_EMPTY, freed.group, &group));
	WANTS(MPI_ERR_GROUP,
	      MPI_Comm_create(MPI_COMM_SELF, freed.group, &comm));
	WANTS(MPI_ERR_GROUP, MPI_Group_free(&freed.group));
	WANTS(MPI_ERR_INFO, MPI_Info_set(freed.info, "a", "b"));
	WANTS(MPI_ERR_INFO, MPI_Info_get(freed.info, "a", 4, text, &flag));
	WANTS(MPI_ERR_INFO, MPI_Info_dup(freed.info, &info));
	WANTS(MPI_ERR_INFO, MPI_Comm_set_info(MPI_COMM_SELF, freed.info));
	WANTS(MPI_ERR_INFO,
	      MPI_Comm_dup_with_info(MPI_COMM_SELF, freed.info, &comm));
	WANTS(MPI_ERR_INFO, MPI_Info_free(&freed.info));
	WANTS(MPI_ERR_OP, MPI_Reduce_local(&x, &y, 1, MPI_INT, freed.op));
	WANTS(MPI_ERR_OP,
	      MPI_Allreduce(&x, &y, 1, MPI_INT, freed.op, MPI_COMM_SELF));
	WANTS(MPI_ERR_OP, MPI_Op_commutative(freed.op, &flag));
	WANTS(MPI_ERR_OP, MPI_Op_free(&freed.op));
}

static void keys(void)
{
	int value = 0, flag;
	int *got;

	WANTS(MPI_ERR_KEYVAL,
	      MPI_Comm_set_attr(MPI_COMM_SELF, freed.comm_key, &value));
	WANTS(MPI_ERR_KEYVAL,
	      MPI_Comm_get_attr(MPI_COMM_SELF, freed.comm_key, &got, &flag));
	WANTS(MPI_ERR_KEYVAL,
	      MPI_Comm_delete_attr(MPI_COMM_SELF, freed.comm_key));
	WANTS(MPI_ERR_KEYVAL,
	      MPI_Type_set_attr(MPI_INT, freed.type_key, &value));
	WANTS(MPI_ERR_KEYVAL,
	      MPI_Type_get_attr(MPI_INT, freed.type_key, &got, &flag));
	WANTS(MPI_ERR_KEYVAL, MPI_Type_delete_attr(MPI_INT, freed.type_key));
}

static int handled;

static void count_errors(MPI_Comm *comm, int *code, ...)
{
	handled += *comm == MPI_COMM_SELF && *code == MPI_ERR_TAG;
}

/* A communicator's error handler still exists when its handle is freed. */
static void errhandlers(void)
{
	MPI_Errhandler mine, copy, got;
	int x = 0;

	WANTS(MPI_ERR_ERRHANDLER,
	      MPI_Comm_set_errhandler(MPI_COMM_SELF, freed.errhandler));
	WANTS(MPI_ERR_ERRHANDLER, MPI_Errhandler_free(&freed.errhandler));
	handled = 0;
	MPI_Comm_create_errhandler(count_errors, &mine);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
	copy = mine;
	MPI_Errhandler_free(&mine);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	WANTS(MPI_ERR_ERRHANDLER,
	      MPI_Comm_set_errhandler(MPI_COMM_WORLD, copy));
	WANTS(MPI_ERR_ERRHANDLER, MPI_Errhandler_free(&copy));
	MPI_Send(&x, 1, MPI_INT, 0, -7, MPI_COMM_SELF);
	is_int(handled, 1, "the communicator still has its handler");
	WANTS(MPI_SUCCESS, MPI_Comm_get_errhandler(MPI_COMM_SELF, &got));
	WANTS(MPI_SUCCESS, MPI_Comm_set_errhandler(MPI_COMM_WORLD, got));
	WANTS(MPI_SUCCESS, MPI_Errhandler_free(&got));
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static void requests(void)
{
	MPI_Request request;
	int x = 0, flag, index;

	WANTS(MPI_ERR_REQUEST, MPI_Wait(&freed.request, MPI_STATUS_IGNORE));
	WANTS(MPI_ERR_REQUEST, MPI_Start(&freed.persistent));
	WANTS(MPI_ERR_REQUEST, MPI_Wait(&freed.persistent, MPI_STATUS_IGNORE));
	/* One that is given up before it is complete. */
	MPI_Irecv(&x, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
	freed.request = request;
	MPI_Request_free(&request);
	WANTS(MPI_ERR_REQUEST, MPI_Wait(&freed.request, MPI_STATUS_IGNORE));
	WANTS(MPI_ERR_REQUEST,
	      MPI_Test(&freed.request, &flag, MPI_STATUS_IGNORE));
	WANTS(MPI_ERR_REQUEST,
	      MPI_Waitany(1, &freed.request, &index, MPI_STATUS_IGNORE));
	WANTS(MPI_ERR_REQUEST, MPI_Cancel(&freed.request));
	WANTS(MPI_ERR_REQUEST, MPI_Request_free(&freed.request));
	flag = 77;
	MPI_Send(&flag, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
	is_int(x, 77, "but the receive still takes its message");
}

/* A duplicate is not a valid communicator before its request is complete. */
static void early(int rank)
{
	MPI_Comm copy = MPI_COMM_NULL;
	MPI_Request request;
	int token = 0, n = -1;

	if (rank == 1)
		MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
	if (rank == 0) {
		WANTS(MPI_ERR_COMM, MPI_Barrier(copy));
		WANTS(MPI_ERR_COMM, MPI_Comm_size(copy, &n));
		WANTS(MPI_ERR_COMM, MPI_Comm_free(&copy));
		MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	}
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_size(copy, &n);
	if (rank == 0)
		is_int(n, 2, "then it is one");
	MPI_Comm_free(&copy);
}

static void body(int rank, int size)
{
	(void)size;
	if (rank == 0) {
		freed = freed_handles();
		comms();
		types();
		groups_infos_ops();
		keys();
		errhandlers();
		requests();
	}
	early(rank);
}

int main(void)
{
	ranks_run(2, 1, body);
	ranks_run(2, 2, body);
	return done_testing();
}
