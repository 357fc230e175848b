/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Invalid arguments of collectives, call by call, blocking and nonblocking: an
 * error in one rank's arguments fails at once and involves no other rank.
 */
#include "wants.h"

#define WORLD MPI_COMM_WORLD
#define NONE MPI_DATATYPE_NULL
#define INT MPI_INT
#define SUM MPI_SUM

static MPI_Request request;
static MPI_Datatype uncommitted, bad_types[2];
static MPI_Datatype types[2];
static int x[4], y[4], size;
static int counts[2] = { 1, 1 }, minus[2] = { 1, -1 }, displs[2] = { 0, 1 };

/* The same arguments to MPI_a and MPI_b. */
#define BOTH(class, a, b, ...)                                \
	do {                                                  \
		WANTS(class, MPI_##a(__VA_ARGS__));           \
		WANTS(class, MPI_##b(__VA_ARGS__, &request)); \
	} while (0)

/* All errors of a side: buffer, count and datatype.  call(class, ...)  puts it
 * into its place. */
#define SIDE(call)                             \
	call(MPI_ERR_COUNT, x, -1, INT);       \
	call(MPI_ERR_TYPE, x, 1, NONE);        \
	call(MPI_ERR_TYPE, x, 1, uncommitted); \
	call(MPI_ERR_BUFFER, NULL, 1, INT)

#define SIDE_V(call)                                        \
	call(MPI_ERR_COUNT, x, minus, displs, INT);         \
	call(MPI_ERR_ARG, x, NULL, displs, INT);            \
	call(MPI_ERR_ARG, x, counts, NULL, INT);            \
	call(MPI_ERR_TYPE, x, counts, displs, NONE);        \
	call(MPI_ERR_TYPE, x, counts, displs, uncommitted); \
	call(MPI_ERR_BUFFER, NULL, counts, displs, INT)

#define SIDE_W(call)                                      \
	call(MPI_ERR_COUNT, x, minus, displs, types);     \
	call(MPI_ERR_ARG, x, NULL, displs, types);        \
	call(MPI_ERR_ARG, x, counts, NULL, types);        \
	call(MPI_ERR_ARG, x, counts, displs, NULL);       \
	call(MPI_ERR_TYPE, x, counts, displs, bad_types); \
	call(MPI_ERR_BUFFER, NULL, counts, displs, types)

static void one_root(void)
{
	WANTS(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
	WANTS(MPI_ERR_COMM, MPI_Ibarrier(MPI_COMM_NULL, &request));
	WANTS(MPI_ERR_ARG, MPI_Ibarrier(WORLD, NULL));
#define BCAST(class, ...) BOTH(class, Bcast, Ibcast, __VA_ARGS__, 0, WORLD)
	SIDE(BCAST);
	BOTH(MPI_ERR_COMM, Bcast, Ibcast, x, 1, INT, 0, MPI_COMM_NULL);
	BOTH(MPI_ERR_ROOT, Bcast, Ibcast, x, 1, INT, size, WORLD);
	BOTH(MPI_ERR_ROOT, Bcast, Ibcast, x, 1, INT, -1, WORLD);
	BOTH(MPI_ERR_ROOT, Bcast, Ibcast, x, 1, INT, MPI_PROC_NULL, WORLD);
	WANTS(MPI_ERR_ARG, MPI_Ibcast(x, 1, INT, 0, WORLD, NULL));
}

static void gathers(void)
{
#define GATHER_S(class, ...) \
	BOTH(class, Gather, Igather, __VA_ARGS__, y, 1, INT, 0, WORLD)
#define GATHER_R(class, ...) \
	BOTH(class, Gather, Igather, y, 1, INT, __VA_ARGS__, 0, WORLD)
#define GATHERV_S(class, ...)                                                  \
	BOTH(class, Gatherv, Igatherv, __VA_ARGS__, y, counts, displs, INT, 0, \
	     WORLD)
#define GATHERV_R(class, ...) \
	BOTH(class, Gatherv, Igatherv, y, 1, INT, __VA_ARGS__, 0, WORLD)
	SIDE(GATHER_S);
	SIDE(GATHER_R);
	SIDE(GATHERV_S);
	SIDE_V(GATHERV_R);
	BOTH(MPI_ERR_ROOT, Gather, Igather, x, 1, INT, y, 1, INT, size, WORLD);
	BOTH(MPI_ERR_COMM, Gather, Igather, x, 1, INT, y, 1, INT, 0,
	     MPI_COMM_NULL);
	BOTH(MPI_ERR_ROOT, Gatherv, Igatherv, x, 1, INT, y, counts, displs, INT,
	     size, WORLD);
	BOTH(MPI_ERR_COMM, Gatherv, Igatherv, x, 1, INT, y, counts, displs, INT,
	     0, MPI_COMM_NULL);
	/* Only the root is in place, and not with its receive buffer. */
	BOTH(MPI_ERR_BUFFER, Gather, Igather, MPI_IN_PLACE, 1, INT, y, 1, INT,
	     1, WORLD);
	BOTH(MPI_ERR_BUFFER, Gather, Igather, x, 1, INT, MPI_IN_PLACE, 1, INT,
	     0, WORLD);
}

static void scatters(void)
{
#define SCATTER_S(class, ...) \
	BOTH(class, Scatter, Iscatter, __VA_ARGS__, y, 1, INT, 0, WORLD)
#define SCATTER_R(class, ...) \
	BOTH(class, Scatter, Iscatter, y, 1, INT, __VA_ARGS__, 0, WORLD)
#define SCATTERV_S(class, ...) \
	BOTH(class, Scatterv, Iscatterv, __VA_ARGS__, y, 1, INT, 0, WORLD)
#define SCATTERV_R(class, ...)                                                \
	BOTH(class, Scatterv, Iscatterv, y, counts, displs, INT, __VA_ARGS__, \
	     0, WORLD)
	SIDE(SCATTER_S);
	SIDE(SCATTER_R);
	SIDE_V(SCATTERV_S);
	SIDE(SCATTERV_R);
	BOTH(MPI_ERR_ROOT, Scatter, Iscatter, x, 1, INT, y, 1, INT, size,
	     WORLD);
	BOTH(MPI_ERR_COMM, Scatter, Iscatter, x, 1, INT, y, 1, INT, 0,
	     MPI_COMM_NULL);
	BOTH(MPI_ERR_ROOT, Scatterv, Iscatterv, x, counts, displs, INT, y, 1,
	     INT, size, WORLD);
	BOTH(MPI_ERR_COMM, Scatterv, Iscatterv, x, counts, displs, INT, y, 1,
	     INT, 0, MPI_COMM_NULL);
	BOTH(MPI_ERR_BUFFER, Scatter, Iscatter, MPI_IN_PLACE, 1, INT, y, 1, INT,
	     0, WORLD);
	BOTH(MPI_ERR_BUFFER, Scatter, Iscatter, x, 1, INT, MPI_IN_PLACE, 1, INT,
	     1, WORLD);
}

/* All-to-all collectives; s and r replace one side. */
#define ALL(a, b, side_s, side_r, s, r, ...)                  \
	side_s(s);                                            \
	side_r(r);                                            \
	BOTH(MPI_ERR_COMM, a, b, __VA_ARGS__, MPI_COMM_NULL); \
	WANTS(MPI_ERR_ARG, MPI_##b(__VA_ARGS__, WORLD, NULL))

#define ALLGATHER_S(class, ...) \
	BOTH(class, Allgather, Iallgather, __VA_ARGS__, y, 1, INT, WORLD)
#define ALLGATHER_R(class, ...) \
	BOTH(class, Allgather, Iallgather, y, 1, INT, __VA_ARGS__, WORLD)
#define ALLGATHERV_S(class, ...)                                             \
	BOTH(class, Allgatherv, Iallgatherv, __VA_ARGS__, y, counts, displs, \
	     INT, WORLD)
#define ALLGATHERV_R(class, ...) \
	BOTH(class, Allgatherv, Iallgatherv, y, 1, INT, __VA_ARGS__, WORLD)
#define ALLTOALL_S(class, ...) \
	BOTH(class, Alltoall, Ialltoall, __VA_ARGS__, y, 1, INT, WORLD)
#define ALLTOALL_R(class, ...) \
	BOTH(class, Alltoall, Ialltoall, y, 1, INT, __VA_ARGS__, WORLD)
#define ALLTOALLV_S(class, ...)                                            \
	BOTH(class, Alltoallv, Ialltoallv, __VA_ARGS__, y, counts, displs, \
	     INT, WORLD)
#define ALLTOALLV_R(class, ...)                                    \
	BOTH(class, Alltoallv, Ialltoallv, y, counts, displs, INT, \
	     __VA_ARGS__, WORLD)
#define ALLTOALLW_S(class, ...)                                            \
	BOTH(class, Alltoallw, Ialltoallw, __VA_ARGS__, y, counts, displs, \
	     types, WORLD)
#define ALLTOALLW_R(class, ...)                                      \
	BOTH(class, Alltoallw, Ialltoallw, y, counts, displs, types, \
	     __VA_ARGS__, WORLD)

static void all_to_all(void)
{
	ALL(Allgather, Iallgather, SIDE, SIDE, ALLGATHER_S, ALLGATHER_R, x, 1,
	    INT, y, 1, INT);
	ALL(Allgatherv, Iallgatherv, SIDE, SIDE_V, ALLGATHERV_S, ALLGATHERV_R,
	    x, 1, INT, y, counts, displs, INT);
	ALL(Alltoall, Ialltoall, SIDE, SIDE, ALLTOALL_S, ALLTOALL_R, x, 1, INT,
	    y, 1, INT);
	ALL(Alltoallv, Ialltoallv, SIDE_V, SIDE_V, ALLTOALLV_S, ALLTOALLV_R, x,
	    counts, displs, INT, y, counts, displs, INT);
	ALL(Alltoallw, Ialltoallw, SIDE_W, SIDE_W, ALLTOALLW_S, ALLTOALLW_R, x,
	    counts, displs, types, y, counts, displs, types);
	ALLGATHER_R(MPI_ERR_BUFFER, MPI_IN_PLACE, 1, INT);
	ALLTOALL_R(MPI_ERR_BUFFER, MPI_IN_PLACE, 1, INT);
}

/* The arguments of all reductions; `...` follows the operation. */
#define REDUCES(a, b, n, wrong, class, ...)                                \
	BOTH(class, a, b, x, y, wrong, INT, SUM, __VA_ARGS__);             \
	BOTH(MPI_ERR_TYPE, a, b, x, y, n, NONE, SUM, __VA_ARGS__);         \
	BOTH(MPI_ERR_TYPE, a, b, x, y, n, uncommitted, SUM, __VA_ARGS__);  \
	BOTH(MPI_ERR_OP, a, b, x, y, n, INT, MPI_OP_NULL, __VA_ARGS__);    \
	BOTH(MPI_ERR_OP, a, b, x, y, n, MPI_FLOAT, MPI_BXOR, __VA_ARGS__); \
	BOTH(MPI_ERR_OP, a, b, x, y, n, INT, MPI_MAXLOC, __VA_ARGS__);     \
	BOTH(MPI_ERR_BUFFER, a, b, NULL, y, n, INT, SUM, __VA_ARGS__);     \
	BOTH(MPI_ERR_BUFFER, a, b, x, NULL, n, INT, SUM, __VA_ARGS__);     \
	BOTH(MPI_ERR_BUFFER, a, b, x, MPI_IN_PLACE, n, INT, SUM, __VA_ARGS__)

static void reductions(void)
{
	REDUCES(Reduce, Ireduce, 1, -1, MPI_ERR_COUNT, 0, WORLD);
	BOTH(MPI_ERR_ROOT, Reduce, Ireduce, x, y, 1, INT, SUM, size, WORLD);
	BOTH(MPI_ERR_COMM, Reduce, Ireduce, x, y, 1, INT, SUM, 0,
	     MPI_COMM_NULL);
	BOTH(MPI_ERR_BUFFER, Reduce, Ireduce, MPI_IN_PLACE, y, 1, INT, SUM, 1,
	     WORLD);
#define REDUCES_ALL(a, b, n, wrong, class)                          \
	REDUCES(a, b, n, wrong, class, WORLD);                      \
	BOTH(MPI_ERR_COMM, a, b, x, y, n, INT, SUM, MPI_COMM_NULL); \
	WANTS(MPI_ERR_ARG, MPI_##b(x, y, n, INT, SUM, WORLD, NULL))
	REDUCES_ALL(Allreduce, Iallreduce, 1, -1, MPI_ERR_COUNT);
	REDUCES_ALL(Scan, Iscan, 1, -1, MPI_ERR_COUNT);
	REDUCES_ALL(Reduce_scatter_block, Ireduce_scatter_block, 1, -1,
		    MPI_ERR_COUNT);
	REDUCES_ALL(Reduce_scatter, Ireduce_scatter, counts, minus,
		    MPI_ERR_COUNT);
	BOTH(MPI_ERR_ARG, Reduce_scatter, Ireduce_scatter, x, y, NULL, INT, SUM,
	     WORLD);
	/* The receive buffer of rank 0 is not used in an exscan. */
#define EXSCAN(class, ...) BOTH(class, Exscan, Iexscan, __VA_ARGS__, WORLD)
	EXSCAN(MPI_ERR_COUNT, x, y, -1, INT, SUM);
	EXSCAN(MPI_ERR_TYPE, x, y, 1, NONE, SUM);
	EXSCAN(MPI_ERR_OP, x, y, 1, INT, MPI_OP_NULL);
	EXSCAN(MPI_ERR_BUFFER, NULL, y, 1, INT, SUM);
	EXSCAN(MPI_ERR_BUFFER, x, x, 1, INT, SUM);
	BOTH(MPI_ERR_COMM, Exscan, Iexscan, x, y, 1, INT, SUM, MPI_COMM_NULL);
}

/* One buffer to send and to receive, where rank 0 has a block in both. */
static void same_buffer(void)
{
	BOTH(MPI_ERR_BUFFER, Reduce, Ireduce, x, x, 1, INT, SUM, 0, WORLD);
	BOTH(MPI_ERR_BUFFER, Allreduce, Iallreduce, x, x, 1, INT, SUM, WORLD);
	BOTH(MPI_ERR_BUFFER, Scan, Iscan, x, x, 1, INT, SUM, WORLD);
	BOTH(MPI_ERR_BUFFER, Reduce_scatter, Ireduce_scatter, x, x, counts, INT,
	     SUM, WORLD);
	BOTH(MPI_ERR_BUFFER, Reduce_scatter_block, Ireduce_scatter_block, x, x,
	     1, INT, SUM, WORLD);
	GATHER_S(MPI_ERR_BUFFER, y, 1, INT);
	GATHERV_S(MPI_ERR_BUFFER, y, 1, INT);
	SCATTER_S(MPI_ERR_BUFFER, y, 1, INT);
	SCATTERV_S(MPI_ERR_BUFFER, y, counts, displs, INT);
	ALLGATHER_S(MPI_ERR_BUFFER, y, 1, INT);
	ALLGATHERV_S(MPI_ERR_BUFFER, y, 1, INT);
	ALLTOALL_S(MPI_ERR_BUFFER, y, 1, INT);
	ALLTOALLV_S(MPI_ERR_BUFFER, y, counts, displs, INT);
	ALLTOALLW_S(MPI_ERR_BUFFER, y, counts, displs, types);
}

/* Between two groups some things are not defined. */
static void inter(int rank)
{
	MPI_Comm both;

	MPI_Intercomm_create(MPI_COMM_SELF, 0, WORLD, 1 - rank, 0, &both);
	if (rank == 0) {
		BOTH(MPI_ERR_COMM, Scan, Iscan, x, y, 1, INT, SUM, both);
		BOTH(MPI_ERR_COMM, Exscan, Iexscan, x, y, 1, INT, SUM, both);
		BOTH(MPI_ERR_ROOT, Bcast, Ibcast, x, 1, INT, 1, both);
		BOTH(MPI_ERR_BUFFER, Allreduce, Iallreduce, MPI_IN_PLACE, y, 1,
		     INT, SUM, both);
		BOTH(MPI_ERR_BUFFER, Allgather, Iallgather, MPI_IN_PLACE, 1,
		     INT, y, 1, INT, both);
	}
	MPI_Comm_free(&both);
}

static void body(int rank, int ranks)
{
	int sum;

	size = ranks;
	if (rank == 0) {
		MPI_Type_contiguous(2, INT, &uncommitted);
		types[0] = types[1] = bad_types[1] = INT;
		bad_types[0] = NONE;
		one_root();
		gathers();
		scatters();
		all_to_all();
		reductions();
		same_buffer();
		MPI_Type_free(&uncommitted);
	}
	inter(rank);
	MPI_Allreduce(&rank, &sum, 1, INT, SUM, WORLD);
	if (rank == 0)
		is_int(sum, 1, "after all that the communicator is as good");
}

int main(void)
{
	ranks_run(2, 1, body);
	return done_testing();
}
