/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbourhood collectives on grids and graphs, in all three forms: blocking,
 * nonblocking and persistent (started twice).
 */
#include "mtap.h"

#define MOST 64 /* neighbours */

static int form;
static const char *const forms[] = { "blocking", "nonblocking", "persistent" };

static int twice(MPI_Request *request)
{
	for (int i = 0; i < 2; i++) {
		int rc = MPI_Start(request);

		if (rc == MPI_SUCCESS)
			rc = MPI_Wait(request, MPI_STATUS_IGNORE);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	return MPI_Request_free(request);
}

/* One of the calls in the form that is being tested: its result. */
#define RUN(name, ...)                                                        \
	({                                                                    \
		MPI_Request request_ = MPI_REQUEST_NULL;                      \
		int rc_;                                                      \
                                                                              \
		if (form == 0) {                                              \
			rc_ = MPI_Neighbor_##name(__VA_ARGS__);               \
		} else if (form == 1) {                                       \
			rc_ = MPI_Ineighbor_##name(__VA_ARGS__, &request_);   \
			if (rc_ == MPI_SUCCESS)                               \
				rc_ = MPI_Wait(&request_, MPI_STATUS_IGNORE); \
		} else {                                                      \
			rc_ = MPI_Neighbor_##name##_init(                     \
				__VA_ARGS__, MPI_INFO_NULL, &request_);       \
			if (rc_ == MPI_SUCCESS)                               \
				rc_ = twice(&request_);                       \
		}                                                             \
		rc_;                                                          \
	})

/* A topology as a test knows it: the ranks this one exchanges with, and the
 * number of the block on the sender's side. */
struct near {
	MPI_Comm comm;
	int in, out;
	int from[MOST], slot[MOST];
};

/* Sender r's block for its neighbour j holds 1000 * r + 10 * j + 1, ... */
static int value(int r, int j, int k)
{
	return 1000 * r + 10 * j + k + 1;
}

static bool got(const struct near *near, const int *in, int j, int count,
		bool same)
{
	for (int k = 0; k < count; k++) {
		int want = near->from[j] == MPI_PROC_NULL ?
				   -1 :
				   value(near->from[j],
					 same ? 0 : near->slot[j], k);

		if (in[k] != want)
			return false;
	}
	return true;
}

static void check_like(const struct near *near, const char *name)
{
	int out[MOST * 3], in[MOST * 3], r;
	bool right;

	MPI_Comm_rank(near->comm, &r);
	for (int i = 0; i < MOST * 3; i++) {
		out[i] = value(r, i / 3, i % 3);
		in[i] = -1;
	}
	right = RUN(allgather, out, 3, MPI_INT, in, 3, MPI_INT, near->comm) ==
		MPI_SUCCESS;
	for (int j = 0; j < near->in; j++)
		right = right && got(near, &in[3 * j], j, 3, true);
	all_ok(right, "%s: allgather, %s", name, forms[form]);
	memset(in, -1, sizeof(in));
	right = RUN(alltoall, out, 3, MPI_INT, in, 3, MPI_INT, near->comm) ==
		MPI_SUCCESS;
	for (int j = 0; j < near->in; j++)
		right = right && got(near, &in[3 * j], j, 3, false);
	all_ok(right, "%s: alltoall, %s", name, forms[form]);
}

/* Blocks of 2 with holes, received in the reverse order of places. */
static void check_counts(const struct near *near, const char *name)
{
	int out[MOST * 3], in[MOST * 3], counts[MOST], there[MOST], here[MOST];
	MPI_Aint there_bytes[MOST], here_bytes[MOST];
	MPI_Datatype types[MOST];
	bool right;
	int r;

	MPI_Comm_rank(near->comm, &r);
	for (int j = 0; j < MOST; j++) {
		counts[j] = 2;
		there[j] = 3 * j;
		here[j] = 3 * (MOST - 1 - j);
		there_bytes[j] = 4 * there[j];
		here_bytes[j] = 4 * here[j];
		types[j] = MPI_INT;
	}
	for (int i = 0; i < MOST * 3; i++)
		out[i] = value(r, i / 3, i % 3);
	memset(in, -1, sizeof(in));
	right = RUN(allgatherv, out, 2, MPI_INT, in, counts, here, MPI_INT,
		    near->comm) == MPI_SUCCESS;
	for (int j = 0; j < near->in; j++)
		right = right && got(near, &in[here[j]], j, 2, true) &&
			in[here[j] + 2] == -1;
	all_ok(right, "%s: allgatherv, %s", name, forms[form]);
	memset(in, -1, sizeof(in));
	right = RUN(alltoallv, out, counts, there, MPI_INT, in, counts, here,
		    MPI_INT, near->comm) == MPI_SUCCESS;
	for (int j = 0; j < near->in; j++)
		right = right && got(near, &in[here[j]], j, 2, false);
	all_ok(right, "%s: alltoallv, %s", name, forms[form]);
	memset(in, -1, sizeof(in));
	right = RUN(alltoallw, out, counts, there_bytes, types, in, counts,
		    here_bytes, types, near->comm) == MPI_SUCCESS;
	for (int j = 0; j < near->in; j++)
		right = right && got(near, &in[here[j]], j, 2, false);
	all_ok(right, "%s: alltoallw, %s", name, forms[form]);
}

static void check(struct near *near, const char *name)
{
	check_like(near, name);
	check_counts(near, name);
	MPI_Comm_free(&near->comm);
}

/* In a grid a block from the lower neighbour is its one for the upper. */
static void grid(int ndims, int first, int periodic, const char *name)
{
	int dims[3] = { first, 0, 0 }, periods[3];
	struct near near = { .in = 2 * ndims, .out = 2 * ndims };

	for (int d = 0; d < ndims; d++)
		periods[d] = periodic;
	MPI_Dims_create(size, ndims, dims);
	MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &near.comm);
	for (int d = 0; d < ndims; d++) {
		MPI_Cart_shift(near.comm, d, 1, &near.from[2 * d],
			       &near.from[2 * d + 1]);
		near.slot[2 * d] = 2 * d + 1;
		near.slot[2 * d + 1] = 2 * d;
	}
	check(&near, name);
}

/* Edges to the next rank twice and to the one after it. */
static void ring(void)
{
	int to[3] = { (rank + 1) % size, (rank + 1) % size, (rank + 2) % size };
	struct near near = { .in = 3,
			     .out = 3,
			     .from = { (rank + size - 1) % size,
				       (rank + 2 * size - 2) % size,
				       (rank + size - 1) % size },
			     .slot = { 0, 2, 1 } };

	/* With two ranks or fewer these edges would be between the same ones in
	 * another order. */
	if (size < 3)
		return;
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, near.from,
				       MPI_UNWEIGHTED, 3, to, MPI_UNWEIGHTED,
				       MPI_INFO_NULL, 0, &near.comm);
	check(&near, "a graph with an edge twice");
}

/* A star made by MPI_Graph_create: all are neighbours of the first rank. */
static void star(void)
{
	int index[MOST], edges[2 * MOST], n = 0;
	struct near near = { .in = rank == 0 ? size - 1 : 1 };

	for (int i = 1; i < size; i++)
		edges[n++] = i;
	index[0] = n;
	for (int i = 1; i < size; i++) {
		edges[n++] = 0;
		index[i] = n;
	}
	near.out = near.in;
	for (int j = 0; j < near.in; j++) {
		near.from[j] = rank == 0 ? j + 1 : 0;
		near.slot[j] = rank == 0 ? 0 : rank - 1;
	}
	MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &near.comm);
	check(&near, "a star");
}

/* Several under way at once, completed in reverse. */
static void overlapping(void)
{
	enum { N = 8 };
	int dims[1] = { size }, periods[1] = { 1 }, out[N][2], in[N][2];
	int before = (rank + size - 1) % size, next = (rank + 1) % size;
	MPI_Request requests[N];
	bool right = true;
	MPI_Comm comm;

	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
	for (int i = 0; i < N; i++) {
		out[i][0] = 100 * rank + 2 * i;
		out[i][1] = 100 * rank + 2 * i + 1;
		MPI_Ineighbor_alltoall(out[i], 1, MPI_INT, in[i], 1, MPI_INT,
				       comm, &requests[i]);
	}
	for (int i = N; i-- > 0;) {
		MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
		right = right && in[i][0] == 100 * before + 2 * i + 1 &&
			in[i][1] == 100 * next + 2 * i;
	}
	all_ok(right, "several at once");
	MPI_Comm_free(&comm);
}

static void large(void)
{
	enum { N = 100000 };
	int dims[1] = { size }, periods[1] = { 1 };
	int *out = malloc(2 * N * sizeof(int)),
	    *in = malloc(2 * N * sizeof(int));
	int before = (rank + size - 1) % size;
	bool right = true;
	MPI_Comm comm;

	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
	for (int i = 0; i < 2 * N; i++)
		out[i] = rank + i;
	right = RUN(alltoall, out, N, MPI_INT, in, N, MPI_INT, comm) ==
		MPI_SUCCESS;
	for (int i = 0; i < N; i++)
		right = right && in[i] == before + N + i;
	all_ok(right, "400 kB a block, %s", forms[form]);
	MPI_Comm_free(&comm);
	free(out);
	free(in);
}

static void errors(void)
{
	int dims[1] = { size }, periods[1] = { 1 }, buf[8] = { 0 }, in[8];
	MPI_Request request;
	MPI_Comm comm;

	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	all_class(MPI_Neighbor_allgather(buf, 1, MPI_INT, in, 1, MPI_INT,
					 MPI_COMM_WORLD),
		  MPI_ERR_TOPOLOGY, "a communicator without a topology");
	all_class(MPI_Neighbor_alltoall(buf, -1, MPI_INT, in, 1, MPI_INT, comm),
		  MPI_ERR_COUNT, "a negative count");
	all_class(MPI_Ineighbor_alltoall(buf, 1, MPI_INT, in, 1,
					 MPI_DATATYPE_NULL, comm, &request),
		  MPI_ERR_TYPE, "MPI_DATATYPE_NULL");
	all_class(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, in, 1,
					MPI_INT, comm),
		  MPI_ERR_BUFFER, "MPI_IN_PLACE");
	all_class(MPI_Neighbor_alltoall_init(buf, 1, MPI_INT, in, 1, MPI_INT,
					     comm, MPI_INFO_NULL, NULL),
		  MPI_ERR_ARG, "no request");
	all_class(MPI_Neighbor_alltoall(buf, 2, MPI_INT, in, 1, MPI_INT, comm),
		  MPI_ERR_TRUNCATE, "blocks that are too long");
	MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	for (form = 0; form < 3; form++) {
		grid(1, 0, 1, "a ring");
		grid(1, 0, 0, "a line");
		grid(2, 0, 1, "a torus");
		grid(3, size % 2 ? 1 : 2, 1, "a torus with two in a row");
		grid(2, 1, 0, "a plane");
		ring();
		star();
		large();
	}
	overlapping();
	errors();
	return mtap_end();
}
