/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that reduce: predefined and user operations, commutative or not,
 * on types with and without holes, in place, with zero and large counts, all
 * roots, for 1 to 64 ranks on one and two workers.
 *
 * The operation that does not commute composes maps x -> a x + b: any mistake
 * in the order of the operands shows.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

#define HOLE 0x5a5a5a5au
#define SIZE_MAX_ 64

static _Atomic int wrong;

struct map {
	unsigned a, b, hole;
};

/* left op right: first right, then left */
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
	MPI_Aint lb, extent;

	MPI_Type_get_extent(*type, &lb, &extent);
	wrong += extent != sizeof(struct map);
	for (int i = 0; i < *n; i++) {
		struct map map = compose(left[i], right[i]);

		right[i].a = map.a;
		right[i].b = map.b;
	}
}

static void add_all(void *in, void *inout, int *n, MPI_Datatype *type)
{
	struct map *left = in, *right = inout;

	for (int i = 0; i < *n; i++) {
		right[i].a += left[i].a;
		right[i].b += left[i].b;
	}
}

/* The parameters of one round of checks. */
struct round {
	int rank, size, count;
	bool in_place;
	struct map (*combine)(struct map left, struct map right);
	MPI_Op op;
	MPI_Datatype type;
};

static struct map operand(int rank, int i)
{
	return (struct map){ 2u * (unsigned)rank + 1 + (unsigned)i,
			     7u * (unsigned)rank + 3u * (unsigned)i + 1, HOLE };
}

/* Elements first to last - 1 of the ranks, reduced. */
static struct map expected(const struct round *r, int first, int last, int i)
{
	struct map sum = operand(first, i);

	for (int rank = first + 1; rank < last; rank++)
		sum = r->combine(sum, operand(rank, i));
	return sum;
}

static struct map *maps_new(int n)
{
	struct map *maps = malloc((size_t)(n + 1) * sizeof(*maps));

	for (int i = 0; i < n; i++)
		maps[i] = (struct map){ 0, 0, HOLE };
	return maps;
}

/* Sets the operands of this rank in the buffer that the call reads. */
static struct map *operands(const struct round *r, struct map *recv, int n)
{
	struct map *send = r->in_place ? recv : maps_new(n);

	for (int i = 0; i < n; i++)
		send[i] = operand(r->rank, i);
	return send;
}

static const void *sendbuf(const struct round *r, const struct map *send)
{
	return r->in_place ? MPI_IN_PLACE : send;
}

static void check(const struct map *got, struct map want)
{
	wrong += got->a != want.a || got->b != want.b || got->hole != HOLE;
}

static void finish(const struct round *r, struct map *send, struct map *recv)
{
	free(recv);
	if (r->in_place)
		return;
	free(send);
}

static void reduce(const struct round *given)
{
	for (int root = 0; root < given->size; root += 1 + given->size / 4) {
		struct round r = *given;
		struct map *recv = maps_new(r.count), *send;

		r.in_place = r.in_place && r.rank == root;
		send = operands(&r, recv, r.count);
		wrong += MPI_Reduce(sendbuf(&r, send),
				    r.rank == root ? recv : NULL, r.count,
				    r.type, r.op, root, MPI_COMM_WORLD) != 0;
		for (int i = 0; i < r.count && r.rank == root; i++)
			check(&recv[i], expected(&r, 0, r.size, i));
		finish(&r, send, recv);
	}
}

static void allreduce(const struct round *r)
{
	struct map *recv = maps_new(r->count);
	struct map *send = operands(r, recv, r->count);

	wrong += MPI_Allreduce(sendbuf(r, send), recv, r->count, r->type, r->op,
			       MPI_COMM_WORLD) != 0;
	for (int i = 0; i < r->count; i++)
		check(&recv[i], expected(r, 0, r->size, i));
	finish(r, send, recv);
}

static void scan(const struct round *r)
{
	struct map *recv = maps_new(r->count);
	struct map *send = operands(r, recv, r->count);

	wrong += MPI_Scan(sendbuf(r, send), recv, r->count, r->type, r->op,
			  MPI_COMM_WORLD) != 0;
	for (int i = 0; i < r->count; i++)
		check(&recv[i], expected(r, 0, r->rank + 1, i));
	finish(r, send, recv);
}

static void exscan(const struct round *r)
{
	struct map *recv = maps_new(r->count);
	struct map *send = operands(r, recv, r->count);
	bool none = r->rank == 0 && !r->in_place;

	wrong += MPI_Exscan(sendbuf(r, send), none ? NULL : recv, r->count,
			    r->type, r->op, MPI_COMM_WORLD) != 0;
	for (int i = 0; i < r->count && r->rank; i++)
		check(&recv[i], expected(r, 0, r->rank, i));
	finish(r, send, recv);
}

static void reduce_scatter_block(const struct round *r)
{
	int all = r->count * r->size;
	struct map *recv = maps_new(all), *send = operands(r, recv, all);

	wrong += MPI_Reduce_scatter_block(sendbuf(r, send), recv, r->count,
					  r->type, r->op, MPI_COMM_WORLD) != 0;
	for (int i = 0; i < r->count; i++)
		check(&recv[i],
		      expected(r, 0, r->size, r->rank * r->count + i));
	finish(r, send, recv);
}

static void reduce_scatter(const struct round *r)
{
	int counts[SIZE_MAX_], all = 0, begin = 0;
	struct map *recv, *send;

	for (int i = 0; i < r->size; i++) {
		counts[i] = i % 3 * r->count;
		begin += i < r->rank ? counts[i] : 0;
		all += counts[i];
	}
	recv = maps_new(all);
	send = operands(r, recv, all);
	wrong += MPI_Reduce_scatter(sendbuf(r, send), recv, counts, r->type,
				    r->op, MPI_COMM_WORLD) != 0;
	for (int i = 0; i < counts[r->rank]; i++)
		check(&recv[i], expected(r, 0, r->size, begin + i));
	finish(r, send, recv);
}

static const struct {
	const char *name;
	void (*check)(const struct round *round);
} checks[] = {
	{ "reduce", reduce },
	{ "allreduce", allreduce },
	{ "scan", scan },
	{ "exscan", exscan },
	{ "reduce_scatter", reduce_scatter },
	{ "reduce_scatter_block", reduce_scatter_block },
};
#define CHECKS ((int)(sizeof(checks) / sizeof(checks[0])))

static int which;

static void body(int rank, int size)
{
	static const int counts[] = { 0, 1, 5, 700 };
	struct round r = { .rank = rank, .size = size };
	MPI_Op add_op, compose_op;
	MPI_Datatype type;

	/* Two integers and a hole. */
	MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
	MPI_Type_create_resized(type, 0, sizeof(struct map), &r.type);
	MPI_Type_free(&type);
	MPI_Type_commit(&r.type);
	MPI_Op_create(add_all, 1, &add_op);
	MPI_Op_create(compose_all, 0, &compose_op);
	for (int c = 0; c < 4; c++) {
		if (size > 8 && counts[c] > 100)
			continue;
		r.count = counts[c];
		for (int i = 0; i < 4; i++) {
			r.in_place = i % 2;
			r.op = i / 2 ? add_op : compose_op;
			r.combine = i / 2 ? add : compose;
			checks[which].check(&r);
		}
	}
	MPI_Op_free(&add_op);
	MPI_Op_free(&compose_op);
	MPI_Type_free(&r.type);
}

/* What ranks first to last - 1 give, in a balanced tree: the left half is a
 * power of two of ranks. */
static double tree_sum(int first, int last, int i)
{
	int half = 1;

	if (last - first == 1)
		return 0.1 * (first + 1) + i;
	while (2 * half < last - first)
		half *= 2;
	return tree_sum(first, first + half, i) +
	       tree_sum(first + half, last, i);
}

/* Predefined operations, on much data and on little. */
static void predefined(int rank, int size)
{
	static const int counts[] = { 1, 3, 511, 20000 };

	for (int c = 0; c < 4; c++) {
		int n = counts[c];
		double *send = malloc((size_t)n * sizeof(double));
		double *recv = malloc((size_t)n * sizeof(double));

		for (int i = 0; i < n; i++)
			send[i] = 0.1 * (rank + 1) + i;
		MPI_Allreduce(send, recv, n, MPI_DOUBLE, MPI_SUM,
			      MPI_COMM_WORLD);
		for (int i = 0; i < n; i++) {
			wrong += recv[i] != tree_sum(0, size, i);
		}
		MPI_Allreduce(MPI_IN_PLACE, send, n, MPI_DOUBLE, MPI_MAX,
			      MPI_COMM_WORLD);
		for (int i = 0; i < n; i++)
			wrong += send[i] != 0.1 * size + i;
		free(send);
		free(recv);
	}
}

/* The index of a minimum, with padding in the pair. */
static void minloc(int rank, int size)
{
	struct {
		double value;
		int index;
	} in[3], out[3];

	for (int i = 0; i < 3; i++) {
		in[i].value = (rank + i) % size;
		in[i].index = rank;
	}
	MPI_Allreduce(in, out, 3, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
	for (int i = 0; i < 3; i++)
		wrong += out[i].value != 0 ||
			 out[i].index != (3 * size - i) % size;
}

/* Once on one worker, twice on two: as it comes, and all sharing all work. */
static const struct {
	const char *name;
	int workers;
	int64_t split_bytes;
} modes[] = {
	{ "one worker", 1, 32768 },
	{ "two workers", 2, 32768 },
	{ "two workers that share all work", 2, 0 },
};

static void run(int mode, void (*ranks)(int rank, int size))
{
	static const int sizes[] = { 1, 2, 3, 4, 5, 8, 17, 64 };

	wrong = 0;
	mpi_cvar.coll_share_bytes = modes[mode].split_bytes;
	for (int i = 0; i < 8; i++)
		ranks_run(sizes[i], modes[mode].workers, ranks);
}

int main(void)
{
	plan(3 * (CHECKS + 2));
	for (int mode = 0; mode < 3; mode++) {
		for (which = 0; which < CHECKS; which++) {
			run(mode, body);
			is_int(wrong, 0, "%s is right for 1 to 64 ranks on %s",
			       checks[which].name, modes[mode].name);
		}
		run(mode, predefined);
		is_int(wrong, 0,
		       "sums are those of a tree over the ranks, bit for bit");
		run(mode, minloc);
		is_int(wrong, 0, "pairs of a value and an index reduce");
	}
	return done_testing();
}
