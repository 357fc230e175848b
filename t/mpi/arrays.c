/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays of counts, displacements and datatypes, and the datatypes themselves,
 * that the program overwrites and frees while a nonblocking collective is
 * incomplete and a persistent one is inactive.
 */
#include "mtap.h"

enum form { NONBLOCKING, PERSISTENT, FORMS };
static const char *const forms[] = { "nonblocking", "persistent" };

static enum form form;
static int late; /* the rank that begins when all others have freed theirs */
static MPI_Comm ring;

/* Blocks one after the other, described in all ways that a call may want. */
struct side {
	int *counts, *displs, *bytes;
	MPI_Aint *places; /* the bytes as addresses */
	MPI_Datatype *types;
};

/* What a call uses. */
struct given {
	int blocks;
	struct side out, in;
	MPI_Datatype type;
};

static void *array(int n, size_t each)
{
	return malloc((size_t)n * each);
}

static void side_give(struct side *side, int n, const int *counts,
		      MPI_Datatype type)
{
	int at = 0;

	side->counts = array(n, sizeof(int));
	side->displs = array(n, sizeof(int));
	side->bytes = array(n, sizeof(int));
	side->places = array(n, sizeof(MPI_Aint));
	side->types = array(n, sizeof(MPI_Datatype));
	for (int j = 0; j < n; at += counts[j++]) {
		side->counts[j] = counts[j];
		side->displs[j] = at;
		side->bytes[j] = at * (int)sizeof(int);
		side->places[j] = side->bytes[j];
		side->types[j] = type;
	}
}

static struct given give(int blocks, const int *out, const int *in)
{
	struct given given = { .blocks = blocks };

	MPI_Type_contiguous(1, MPI_INT, &given.type);
	MPI_Type_commit(&given.type);
	side_give(&given.out, blocks, out, given.type);
	side_give(&given.in, blocks, in, given.type);
	return given;
}

static void spoil(void *array, int n, size_t each)
{
	memset(array, 0x5a, (size_t)n * each);
	free(array);
}

static void side_spoil(const struct side *side, int n)
{
	spoil(side->counts, n, sizeof(int));
	spoil(side->displs, n, sizeof(int));
	spoil(side->bytes, n, sizeof(int));
	spoil(side->places, n, sizeof(MPI_Aint));
	spoil(side->types, n, sizeof(MPI_Datatype));
}

/* The late rank waits for the others; not before a call that initialises, since
 * that may wait for all ranks itself. */
static void before_call(void)
{
	bool waits = form == NONBLOCKING && rank == late;
	char token;

	for (int i = 0; waits && i < size - 1; i++)
		MPI_Recv(&token, 1, MPI_CHAR, MPI_ANY_SOURCE, 3, mtap_comm,
			 MPI_STATUS_IGNORE);
}

static void after_call(struct given *given)
{
	char token = 0;

	side_spoil(&given->out, given->blocks);
	side_spoil(&given->in, given->blocks);
	MPI_Type_free(&given->type);
	if (form == NONBLOCKING && rank != late)
		MPI_Send(&token, 1, MPI_CHAR, late, 3, mtap_comm);
}

static bool complete(MPI_Request *request)
{
	bool right = true;

	if (form == NONBLOCKING)
		return MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
	for (int i = 0; i < 2; i++)
		right = right && MPI_Start(request) == MPI_SUCCESS &&
			MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
	MPI_Request_free(request);
	return right;
}

/* One of the calls, with arguments out of g, of which nothing is left when it
 * is completed: whether it succeeds. */
#define RUN(begun, init, ...)                                              \
	({                                                                 \
		MPI_Request request_ = MPI_REQUEST_NULL;                   \
		int rc_;                                                   \
                                                                           \
		before_call();                                             \
		rc_ = form == NONBLOCKING ?                                \
			      begun(__VA_ARGS__, &request_) :              \
			      init(__VA_ARGS__, MPI_INFO_NULL, &request_); \
		after_call(&g);                                            \
		rc_ == MPI_SUCCESS &&complete(&request_);                  \
	})

/* Whether n elements are those that rank `from` sends to rank `to`. */
static bool sent(const int *in, int n, int from, int to)
{
	for (int k = 0; k < n; k++)
		if (in[k] != 10000 * from + 100 * to + k)
			return false;
	return true;
}

static void fill(int *out, int n, int from, int to)
{
	for (int k = 0; k < n; k++)
		out[k] = 10000 * from + 100 * to + k;
}

/* Rank j has j + 1 elements, which the last rank or all get. */
static void gathers(const int *growing, int *out, int *in)
{
	struct given g = give(size, growing, growing);
	bool right;
	int at = 0;

	fill(out, rank + 1, rank, 0);
	right = RUN(MPI_Igatherv, MPI_Gatherv_init, out, rank + 1, g.type, in,
		    g.in.counts, g.in.displs, g.type, size - 1, MPI_COMM_WORLD);
	for (int j = 0; rank == size - 1 && j < size; at += growing[j++])
		right = right && sent(in + at, j + 1, j, 0);
	all_ok(right, "gatherv, %s, rank %d late", forms[form], late);
	g = give(size, growing, growing);
	right = RUN(MPI_Iallgatherv, MPI_Allgatherv_init, out, rank + 1, g.type,
		    in, g.in.counts, g.in.displs, g.type, MPI_COMM_WORLD);
	at = 0;
	for (int j = 0; j < size; at += growing[j++])
		right = right && sent(in + at, j + 1, j, 0);
	all_ok(right, "allgatherv, %s, rank %d late", forms[form], late);
}

/* Rank j gets j + 1 elements, from the last rank or reduced. */
static void scatters(const int *growing, int *out, int *in)
{
	struct given g = give(size, growing, growing);
	bool right;
	int at = 0;

	for (int j = 0; j < size; at += growing[j++])
		fill(out + at, j + 1, size - 1, j);
	right = RUN(MPI_Iscatterv, MPI_Scatterv_init, out, g.out.counts,
		    g.out.displs, g.type, in, rank + 1, g.type, size - 1,
		    MPI_COMM_WORLD);
	all_ok(right && sent(in, rank + 1, size - 1, rank),
	       "scatterv, %s, rank %d late", forms[form], late);
	g = give(size, growing, growing);
	right = RUN(MPI_Ireduce_scatter, MPI_Reduce_scatter_init, out, in,
		    g.out.counts, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	all_ok(right && sent(in, rank + 1, size - 1, rank),
	       "reduce_scatter, %s, rank %d late", forms[form], late);
}

/* Rank j gets j + 1 elements from each rank. */
static void exchanges(const int *growing, int *out, int *in)
{
	int *mine = array(size, sizeof(int)), at = 0;
	struct given g;
	bool right;

	for (int j = 0; j < size; at += growing[j++]) {
		fill(out + at, j + 1, rank, j);
		mine[j] = rank + 1;
	}
	g = give(size, growing, mine);
	right = RUN(MPI_Ialltoallv, MPI_Alltoallv_init, out, g.out.counts,
		    g.out.displs, g.type, in, g.in.counts, g.in.displs, g.type,
		    MPI_COMM_WORLD);
	for (int j = 0; j < size; j++)
		right = right && sent(in + j * (rank + 1), rank + 1, j, rank);
	all_ok(right, "alltoallv, %s, rank %d late", forms[form], late);
	g = give(size, growing, mine);
	right = RUN(MPI_Ialltoallw, MPI_Alltoallw_init, out, g.out.counts,
		    g.out.bytes, g.out.types, in, g.in.counts, g.in.bytes,
		    g.in.types, MPI_COMM_WORLD);
	for (int j = 0; j < size; j++)
		right = right && sent(in + j * (rank + 1), rank + 1, j, rank);
	all_ok(right, "alltoallw, %s, rank %d late", forms[form], late);
	free(mine);
}

/* On a ring: one element for the rank before, two for the one after. */
static void neighbours(int *out, int *in)
{
	static const int going[] = { 1, 2 }, coming[] = { 2, 1 };
	int before = (rank + size - 1) % size, after = (rank + 1) % size;
	struct given g = give(2, going, coming);
	bool right;

	fill(out, 1, rank, before);
	fill(out + 1, 2, rank, after);
	right = RUN(MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init, out,
		    g.out.counts, g.out.displs, g.type, in, g.in.counts,
		    g.in.displs, g.type, ring);
	right = right && sent(in, 2, before, rank) &&
		sent(in + 2, 1, after, rank);
	all_ok(right, "neighbor_alltoallv, %s, rank %d late", forms[form],
	       late);
	g = give(2, going, coming);
	right = RUN(MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init, out,
		    g.out.counts, g.out.places, g.out.types, in, g.in.counts,
		    g.in.places, g.in.types, ring);
	right = right && sent(in, 2, before, rank) &&
		sent(in + 2, 1, after, rank);
	all_ok(right, "neighbor_alltoallw, %s, rank %d late", forms[form],
	       late);
	g = give(2, going, going);
	fill(out, 1, rank, 0);
	right = RUN(MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init, out,
		    1, g.type, in, g.out.counts, g.out.displs, g.type, ring);
	right = right && sent(in, 1, before, 0) && sent(in + 1, 1, after, 0);
	all_ok(right, "neighbor_allgatherv, %s, rank %d late", forms[form],
	       late);
}

int main(int argc, char **argv)
{
	int *out, *in, *growing, periodic = 1;

	mtap_init(&argc, &argv);
	growing = array(size, sizeof(int));
	for (int j = 0; j < size; j++)
		growing[j] = j + 1;
	out = array((size + 1) * (size + 1), sizeof(int));
	in = array((size + 1) * (size + 1), sizeof(int));
	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
	for (form = 0; form < FORMS; form++)
		for (late = 0; late<size; late += size> 1 ? size - 1 : 1) {
			gathers(growing, out, in);
			scatters(growing, out, in);
			exchanges(growing, out, in);
			neighbours(out, in);
		}
	MPI_Comm_free(&ring);
	free(in);
	free(out);
	free(growing);
	return mtap_end();
}
