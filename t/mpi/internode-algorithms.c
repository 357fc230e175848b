/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every algorithm of internode collectives, compared with sends and receives:
 * on all ranks, every second one, in reverse order and in two halves; with
 * random roots, lengths and datatypes with holes; with operations that do not
 * commute; blocking and nonblocking.  Only in some of the communicators are the
 * ranks of a process consecutive.
 */
#include <stdint.h>

#include "mtap.h"
#include "vmpi.h"

#define RANKS_MAX 32
#define BYTES_MAX 120000 /* of a block */
#define ROUNDS 8

/* Two integers and a hole: an affine map x -> a x + b. */
struct map {
	unsigned a, b, hole;
};

#define HOLE 0x5a5a5a5au

static MPI_Datatype map_type;
static MPI_Op compose_op, add_op;
static unsigned state; /* of the random numbers: the same on all ranks */

static unsigned roll(unsigned below)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % below;
}

static struct map compose(struct map left, struct map right)
{
	return (struct map){ left.a * right.a, left.a * right.b + left.b,
			     HOLE };
}

static struct map add(struct map left, struct map right)
{
	return (struct map){ left.a + right.a, left.b + right.b, HOLE };
}

static void compose_all(void *in, void *inout, int *n, MPI_Datatype *type)
{
	struct map *left = in, *right = inout;

	(void)type;
	for (int i = 0; i < *n; i++) {
		struct map map = compose(left[i], right[i]);

		right[i].a = map.a;
		right[i].b = map.b;
	}
}

static void add_all(void *in, void *inout, int *n, MPI_Datatype *type)
{
	struct map *left = in, *right = inout;

	(void)type;
	for (int i = 0; i < *n; i++) {
		right[i].a += left[i].a;
		right[i].b += left[i].b;
	}
}

/* One call. */
struct round {
	MPI_Comm comm;
	int rank, size; /* there */
	int root, n;	/* elements of a block */
	bool starts, in_place, commutes;
	unsigned salt;
	MPI_Op op;
};

static struct map value(const struct round *r, int from, int to, int i)
{
	unsigned x = (unsigned)from * 2654435761u + (unsigned)to * 40503u +
		     (unsigned)i * 97u + r->salt;

	return (struct map){ x * 2 + 1, x ^ (x >> 7), HOLE };
}

static struct map *maps_new(size_t n)
{
	struct map *maps = malloc((n + 1) * sizeof(*maps));

	if (!maps)
		bail("no memory");
	for (size_t i = 0; i < n; i++)
		maps[i] = (struct map){ 0, 0, HOLE };
	return maps;
}

static void fill(const struct round *r, struct map *maps, int from, int to)
{
	for (int i = 0; i < r->n; i++)
		maps[i] = value(r, from, to, i);
}

static int same(struct map got, struct map want)
{
	return got.a == want.a && got.b == want.b && got.hole == HOLE;
}

static int block_wrong(const struct round *r, const struct map *maps, int from,
		       int to)
{
	int wrong = 0;

	for (int i = 0; i < r->n; i++)
		wrong += !same(maps[i], value(r, from, to, i));
	return wrong;
}

/* Operands first to last - 1, reduced: element i of block `block`. */
static struct map reduced(const struct round *r, int first, int last, int block,
			  int i)
{
	struct map sum = value(r, first, block, i);

	for (int rank = first + 1; rank < last; rank++)
		sum = r->commutes ? add(sum, value(r, rank, block, i)) :
				    compose(sum, value(r, rank, block, i));
	return sum;
}

static int reduced_wrong(const struct round *r, const struct map *maps,
			 int first, int last, int block)
{
	int wrong = 0;

	for (int i = 0; i < r->n; i += 1 + r->n / 500)
		wrong += !same(maps[i], reduced(r, first, last, block, i));
	return wrong;
}

/* MPI_X or MPI_IX and its wait. */
#define CALL(r, name, iname, ...)                                           \
	do {                                                                \
		MPI_Request request;                                        \
		int rc;                                                     \
                                                                            \
		if ((r)->starts) {                                          \
			rc = MPI_##iname(__VA_ARGS__, (r)->comm, &request); \
			wrong += rc != 0;                                   \
			rc = MPI_Wait(&request, MPI_STATUS_IGNORE);         \
		} else {                                                    \
			rc = MPI_##name(__VA_ARGS__, (r)->comm);            \
		}                                                           \
		wrong += rc != 0;                                           \
	} while (0)

static int bcast(const struct round *r)
{
	struct map *maps = maps_new((size_t)r->n);
	int wrong = 0;

	if (r->rank == r->root)
		fill(r, maps, r->root, 0);
	CALL(r, Bcast, Ibcast, maps, r->n, map_type, r->root);
	wrong += block_wrong(r, maps, r->root, 0);
	free(maps);
	return wrong;
}

static int gather(const struct round *r)
{
	size_t n = (size_t)r->n, size = (size_t)r->size;
	struct map *mine = maps_new(n), *all = maps_new(n * size);
	bool in_place = r->in_place && r->rank == r->root;
	int wrong = 0;

	fill(r, mine, r->rank, 0);
	fill(r, all + n * (size_t)r->rank, r->rank, 0);
	CALL(r, Gather, Igather, in_place ? MPI_IN_PLACE : mine, r->n, map_type,
	     all, r->n, map_type, r->root);
	for (int i = 0; i < r->size && r->rank == r->root; i++)
		wrong += block_wrong(r, all + n * (size_t)i, i, 0);
	free(mine);
	free(all);
	return wrong;
}

static int scatter(const struct round *r)
{
	size_t n = (size_t)r->n, size = (size_t)r->size;
	struct map *mine = maps_new(n), *all = maps_new(n * size);
	bool in_place = r->in_place && r->rank == r->root;
	int wrong = 0;

	for (int i = 0; i < r->size && r->rank == r->root; i++)
		fill(r, all + n * (size_t)i, r->root, i);
	CALL(r, Scatter, Iscatter, all, r->n, map_type,
	     in_place ? MPI_IN_PLACE : mine, r->n, map_type, r->root);
	if (!in_place)
		wrong += block_wrong(r, mine, r->root, r->rank);
	free(mine);
	free(all);
	return wrong;
}

static int allgather(const struct round *r)
{
	size_t n = (size_t)r->n, size = (size_t)r->size;
	struct map *mine = maps_new(n), *all = maps_new(n * size);
	int wrong = 0;

	fill(r, mine, r->rank, 0);
	if (r->in_place)
		fill(r, all + n * (size_t)r->rank, r->rank, 0);
	CALL(r, Allgather, Iallgather, r->in_place ? MPI_IN_PLACE : mine, r->n,
	     map_type, all, r->n, map_type);
	for (int i = 0; i < r->size; i++)
		wrong += block_wrong(r, all + n * (size_t)i, i, 0);
	free(mine);
	free(all);
	return wrong;
}

/* Blocks of different lengths, in reverse order: block i has i % 3 parts of
 * n. */
static int allgatherv(const struct round *given)
{
	struct round r = *given;
	int counts[RANKS_MAX], displs[RANKS_MAX], at = 0, wrong = 0;
	struct map *mine, *all;

	for (int i = r.size; i-- > 0;) {
		counts[i] = (i + 1) % 3 * given->n;
		displs[i] = at;
		at += counts[i];
	}
	mine = maps_new((size_t)counts[r.rank]);
	all = maps_new((size_t)at);
	r.n = counts[r.rank];
	fill(&r, mine, r.rank, 0);
	if (r.in_place)
		fill(&r, all + displs[r.rank], r.rank, 0);
	CALL(&r, Allgatherv, Iallgatherv, r.in_place ? MPI_IN_PLACE : mine, r.n,
	     map_type, all, counts, displs, map_type);
	for (int i = 0; i < r.size; i++) {
		r.n = counts[i];
		wrong += block_wrong(&r, all + displs[i], i, 0);
	}
	free(mine);
	free(all);
	return wrong;
}

static int alltoall(const struct round *r)
{
	size_t n = (size_t)r->n, size = (size_t)r->size;
	struct map *send = maps_new(n * size), *recv = maps_new(n * size);
	int wrong = 0;

	for (int i = 0; i < r->size; i++)
		fill(r, (r->in_place ? recv : send) + n * (size_t)i, r->rank,
		     i);
	CALL(r, Alltoall, Ialltoall, r->in_place ? MPI_IN_PLACE : send, r->n,
	     map_type, recv, r->n, map_type);
	for (int i = 0; i < r->size; i++)
		wrong += block_wrong(r, recv + n * (size_t)i, i, r->rank);
	free(send);
	free(recv);
	return wrong;
}

/* Some blocks are empty, the others of two lengths. */
static int alltoallv(const struct round *r)
{
	int counts[RANKS_MAX], displs[RANKS_MAX], wrong = 0;
	size_t n = (size_t)r->n, size = (size_t)r->size;
	struct map *send = maps_new(n * size), *recv = maps_new(n * size);

	for (int i = 0; i < r->size; i++) {
		counts[i] = (i + r->rank) % 3 ? r->n / ((i + r->rank) % 3) : 0;
		displs[i] = i * r->n;
		fill(r, send + displs[i], r->rank, i);
	}
	CALL(r, Alltoallv, Ialltoallv, send, counts, displs, map_type, recv,
	     counts, displs, map_type);
	for (int i = 0; i < r->size; i++) {
		struct round part = *r;

		part.n = counts[i];
		wrong += block_wrong(&part, recv + displs[i], i, r->rank);
		for (int j = counts[i]; j < r->n; j++)
			wrong += recv[displs[i] + j].a != 0;
	}
	free(send);
	free(recv);
	return wrong;
}

static int reduce(const struct round *r)
{
	struct map *send = maps_new((size_t)r->n),
		   *recv = maps_new((size_t)r->n);
	bool in_place = r->in_place && r->rank == r->root;
	int wrong = 0;

	fill(r, in_place ? recv : send, r->rank, 0);
	CALL(r, Reduce, Ireduce, in_place ? MPI_IN_PLACE : send,
	     r->rank == r->root ? recv : NULL, r->n, map_type, r->op, r->root);
	if (r->rank == r->root)
		wrong += reduced_wrong(r, recv, 0, r->size, 0);
	if (!in_place)
		wrong += block_wrong(r, send, r->rank, 0);
	free(send);
	free(recv);
	return wrong;
}

/* Allreduce and scans: all have a result, of ranks 0 to last - 1. */
#define REDUCE_TO_ALL(function, Name, Iname, last)                            \
	static int function(const struct round *r)                            \
	{                                                                     \
		struct map *send = maps_new((size_t)r->n);                    \
		struct map *recv = maps_new((size_t)r->n);                    \
		int wrong = 0;                                                \
                                                                              \
		fill(r, r->in_place ? recv : send, r->rank, 0);               \
		CALL(r, Name, Iname, r->in_place ? MPI_IN_PLACE : send, recv, \
		     r->n, map_type, r->op);                                  \
		if ((last) > 0)                                               \
			wrong += reduced_wrong(r, recv, 0, (last), 0);        \
		if (!r->in_place)                                             \
			wrong += block_wrong(r, send, r->rank, 0);            \
		free(send);                                                   \
		free(recv);                                                   \
		return wrong;                                                 \
	}

REDUCE_TO_ALL(allreduce, Allreduce, Iallreduce, r->size)
REDUCE_TO_ALL(scan, Scan, Iscan, r->rank + 1)
REDUCE_TO_ALL(exscan, Exscan, Iexscan, r->rank)

static int reduce_scatter_block(const struct round *r)
{
	size_t n = (size_t)r->n, size = (size_t)r->size;
	struct map *send = maps_new(n * size), *recv = maps_new(n * size);
	int wrong = 0;

	for (int i = 0; i < r->size; i++)
		fill(r, (r->in_place ? recv : send) + n * (size_t)i, r->rank,
		     i);
	CALL(r, Reduce_scatter_block, Ireduce_scatter_block,
	     r->in_place ? MPI_IN_PLACE : send, recv, r->n, map_type, r->op);
	wrong += reduced_wrong(r, recv, 0, r->size, r->rank);
	free(send);
	free(recv);
	return wrong;
}

static int reduce_scatter(const struct round *given)
{
	struct round r = *given;
	int counts[RANKS_MAX], at = 0, wrong = 0;
	struct map *send, *recv;

	for (int i = 0; i < r.size; i++) {
		counts[i] = i % 3 * given->n;
		at += counts[i];
	}
	send = maps_new((size_t)at);
	recv = maps_new((size_t)at);
	at = 0;
	for (int i = 0; i < r.size; i++) {
		r.n = counts[i];
		fill(&r, (r.in_place ? recv : send) + at, r.rank, i);
		at += r.n;
	}
	CALL(&r, Reduce_scatter, Ireduce_scatter,
	     r.in_place ? MPI_IN_PLACE : send, recv, counts, map_type, r.op);
	r.n = counts[r.rank];
	wrong += reduced_wrong(&r, recv, 0, r.size, r.rank);
	free(send);
	free(recv);
	return wrong;
}

/* The collectives of one control variable, and its words. */
static const struct {
	const char *name, *words[6];
	int (*calls[2])(const struct round *round);
} families[] = {
	{ "mpi_coll_bcast_algorithm",
	  { "auto", "linear", "binomial", "scatter_allgather" },
	  { bcast } },
	{ "mpi_coll_allgather_algorithm",
	  { "auto", "linear", "ring" },
	  { allgather, allgatherv } },
	{ "mpi_coll_alltoall_algorithm",
	  { "auto", "linear", "pairwise" },
	  { alltoall, alltoallv } },
	{ "mpi_coll_reduce_algorithm",
	  { "auto", "ordered", "linear", "binomial", "reduce_scatter" },
	  { reduce } },
	{ "mpi_coll_allreduce_algorithm",
	  { "auto", "ordered", "linear", "recursive_doubling",
	    "reduce_scatter" },
	  { allreduce } },
	{ "mpi_coll_reduce_scatter_algorithm",
	  { "auto", "ordered", "linear", "pairwise" },
	  { reduce_scatter, reduce_scatter_block } },
	{ "mpi_coll_scan_algorithm",
	  { "auto", "ordered", "linear", "recursive_doubling", "chain" },
	  { scan, exscan } },
	/* As with auto above, but from the first rank to the last. */
	{ "mpi_coll_reduce_order", { "tree", "rank" }, { reduce, allreduce } },
	/* All of these have is how much goes along with the calls. */
	{ "mpi_coll_packed_bytes", { "8K", "0" }, { gather, scatter } },
};
#define FAMILIES ((int)(sizeof(families) / sizeof(families[0])))

/* All ranks, in order, backwards, every second one, and in halves that take
 * turns. */
#define COMMS 4
static MPI_Comm comms[COMMS];

static void comms_make(void)
{
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
	/* 0, half, 1, half + 1, ...: no rank has a neighbour of its process. */
	MPI_Comm_split(MPI_COMM_WORLD, 0,
		       rank < (size + 1) / 2 ? 2 * rank :
					       2 * (rank - (size + 1) / 2) + 1,
		       &comms[3]);
	for (int i = 0; i < COMMS; i++)
		MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
}

/* Sets a variable in all processes, synchronised by sends and receives. */
static void set(const char *name, const char *word)
{
	everybody();
	if (vmpi_set(name, word) != 0)
		bail("%s = %s is refused", name, word);
	everybody();
}

static int elements(void)
{
	static const int most[] = { 3, 40, 2000, BYTES_MAX / 12 };

	return (int)roll((unsigned)most[roll(4)] + 1) / (size > 8 ? 8 : 1);
}

static int rounds(int family)
{
	int wrong = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct round r = { .comm = comms[i % COMMS] };
		unsigned root = roll(1000);

		MPI_Comm_rank(r.comm, &r.rank);
		MPI_Comm_size(r.comm, &r.size);
		r.root = (int)root % r.size;
		r.n = elements();
		r.starts = roll(3) == 0;
		r.in_place = roll(2) == 0;
		r.commutes = roll(2) == 0;
		r.salt = roll(1u << 20);
		r.op = r.commutes ? add_op : compose_op;
		for (int call = 0; call < 2; call++)
			if (families[family].calls[call])
				wrong += families[family].calls[call](&r);
	}
	return wrong;
}

static void algorithms_check(void)
{
	for (int f = 0; f < FAMILIES; f++) {
		for (int w = 0; w < 6 && families[f].words[w]; w++) {
			set(families[f].name, families[f].words[w]);
			all_ok(rounds(f) == 0, "%s=%s", families[f].name,
			       families[f].words[w]);
		}
		set(families[f].name, families[f].words[0]);
	}
}

/* Checks that results are bitwise equal on all ranks. */
static void bits_check(void)
{
	static const char *const words[] = { "linear", "recursive_doubling",
					     "reduce_scatter", "ordered" };
	enum { N = 1000 };
	double in[N], out[N], other[N];

	for (int i = 0; i < N; i++)
		in[i] = 1.0 / (1 + rank * 7 + i);
	for (int w = 0; w < 4; w++) {
		set("mpi_coll_allreduce_algorithm", words[w]);
		MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, comms[3]);
		if (rank == 0)
			memcpy(other, out, sizeof(other));
		for (int i = 1; i < size && rank == 0; i++)
			MPI_Send(out, N, MPI_DOUBLE, i, 7, mtap_comm);
		if (rank != 0)
			MPI_Recv(other, N, MPI_DOUBLE, 0, 7, mtap_comm,
				 MPI_STATUS_IGNORE);
		all_ok(!memcmp(out, other, sizeof(out)),
		       "%s gives all ranks the same bits", words[w]);
	}
	set("mpi_coll_allreduce_algorithm", "auto");
}

/* Scans of so much that it goes from process to process in pieces. */
static void pieces_check(void)
{
	enum { N = 150001 };
	unsigned *in = malloc(N * sizeof(*in)), *sum = malloc(N * sizeof(*sum));
	unsigned *before = calloc(N, sizeof(*before)), me = (unsigned)rank;
	int wrong = 0;

	for (unsigned i = 0; i < N; i++)
		in[i] = i * (me + 1);
	MPI_Scan(in, sum, N, MPI_UNSIGNED, MPI_SUM, comms[0]);
	MPI_Exscan(in, before, N, MPI_UNSIGNED, MPI_SUM, comms[0]);
	for (unsigned i = 0; i < N; i++)
		wrong += sum[i] != i * ((me + 1) * (me + 2) / 2) ||
			 before[i] != i * (me * (me + 1) / 2);
	all_ok(wrong == 0, "long scans are right");
	free(before);
	free(sum);
	free(in);
}

/* Processes that do not choose the same: rank 0's is another one. */
static void differ_check(void)
{
	int value = rank, code, nodes = 1;
	const char *text = getenv("TAP_NODES");

	if (text)
		nodes = atoi(text);
	everybody();
	if (rank == 0)
		vmpi_set("mpi_coll_bcast_algorithm", "binomial");
	everybody();
	code = MPI_Bcast(&value, 1, MPI_INT, 0, comms[0]);
	if (nodes == 1) {
		all_ok(code == 0 && value == 0, "one process has one setting");
		all_ok(true, "and goes on");
	} else {
		all_class(code, MPI_ERR_OTHER,
			  "settings that differ are an error on all ranks");
		set("mpi_coll_bcast_algorithm", "auto");
		value = rank;
		code = MPI_Bcast(&value, 1, MPI_INT, 0, comms[0]);
		all_ok(code == 0 && value == 0, "and the next one is fine");
	}
}

int main(int argc, char **argv)
{
	MPI_Datatype two;

	mtap_init(&argc, &argv);
	state = 12345;
	MPI_Type_contiguous(2, MPI_UNSIGNED, &two);
	MPI_Type_create_resized(two, 0, sizeof(struct map), &map_type);
	MPI_Type_commit(&map_type);
	MPI_Type_free(&two);
	MPI_Op_create(compose_all, 0, &compose_op);
	MPI_Op_create(add_all, 1, &add_op);
	comms_make();
	algorithms_check();
	bits_check();
	pieces_check();
	differ_check();
	for (int i = 0; i < COMMS; i++)
		MPI_Comm_free(&comms[i]);
	MPI_Op_free(&compose_op);
	MPI_Op_free(&add_op);
	MPI_Type_free(&map_type);
	return mtap_end();
}
