/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long collectives whose data the processes of a host post where all others read
 * them: blocks and shares of sizes that do not divide, in place, with types that
 * have holes, operations that do not commute, late roots, and more calls in a row
 * than a board has room for.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks.h"

#define RANKS 8
#define MOST 180000 /* elements of a vector, two words each */

static _Atomic int wrong;

static unsigned *out, *in;

/* Element i of what a rank has for another one. */
static unsigned word(int from, int to, size_t i)
{
	return (unsigned)(from * 1000003 + to * 10007) + (unsigned)i;
}

static bool is_from(const unsigned *block, int from, int to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (block[i] != word(from, to, i))
			return false;
	return true;
}

static void broadcasts(int rank, int size, int n)
{
	for (int root = 0; root < size; root += size / 2) {
		for (size_t i = 0; i < (size_t)n; i++)
			in[i] = rank == root ? word(root, n, i) : 0;
		MPI_Bcast(in, n, MPI_UNSIGNED, root, MPI_COMM_WORLD);
		wrong += !is_from(in, root, n, (size_t)n);
	}
}

static void moves(int rank, int size, int n)
{
	MPI_Datatype apart;
	size_t len = (size_t)n;

	broadcasts(rank, size, n);

	for (int to = 0; to < size; to++)
		for (size_t i = 0; i < len; i++)
			out[(size_t)to * len + i] = word(rank, to, i);
	MPI_Alltoall(out, n, MPI_UNSIGNED, in, n, MPI_UNSIGNED, MPI_COMM_WORLD);
	for (int from = 0; from < size; from++)
		wrong += !is_from(in + (size_t)from * len, from, rank, len);
	MPI_Allgather(out, n, MPI_UNSIGNED, in, n, MPI_UNSIGNED,
		      MPI_COMM_WORLD);
	for (int from = 0; from < size; from++)
		wrong += !is_from(in + (size_t)from * len, from, 0, len);
	memset(in, 0, sizeof(*in) * len * (size_t)size);
	memcpy(in + (size_t)rank * len, out, sizeof(*out) * len);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, n, MPI_UNSIGNED,
		      MPI_COMM_WORLD);
	for (int from = 0; from < size; from++)
		wrong += !is_from(in + (size_t)from * len, from, 0, len);
	/* Every second word is sent and received. */
	MPI_Type_vector(n / 2, 1, 2, MPI_UNSIGNED, &apart);
	MPI_Type_commit(&apart);
	memset(in, 0, sizeof(*in) * len);
	MPI_Allgather(out, 1, apart, in, n / 2, MPI_UNSIGNED, MPI_COMM_WORLD);
	for (int from = 0; from < size; from++)
		for (int i = 0; i < n / 2; i++)
			wrong += in[from * (n / 2) + i] !=
				 word(from, 0, 2 * (size_t)i);
	MPI_Type_free(&apart);
}

/* x -> a x + b */
struct map {
	unsigned a, b;
};

static struct map composed(struct map left, struct map right)
{
	return (struct map){ left.a * right.a, left.a * right.b + left.b };
}

static void compose(void *left, void *right, int *n, MPI_Datatype *type)
{
	struct map *to = right;

	for (int i = 0; i < *n; i++)
		to[i] = composed(((struct map *)left)[i], to[i]);
}

static struct map operand(int rank, int i)
{
	return (struct map){ 2u * (unsigned)rank + 1 + 2u * (unsigned)i,
			     7u * (unsigned)rank + 3u * (unsigned)i + 1 };
}

static void operands_fill(struct map *to, int rank, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = operand(rank, i);
}

/* Whether n elements are the result, from `first` on. */
static bool are_combined(const struct map *result, int size, int first, int n)
{
	for (int i = 0; i < n; i++) {
		struct map want = operand(0, first + i);

		for (int rank = 1; rank < size; rank++)
			want = composed(want, operand(rank, first + i));
		if (result[i].a != want.a || result[i].b != want.b)
			return false;
	}
	return true;
}

static void scatters(int rank, int size, int n, MPI_Datatype pair, MPI_Op op)
{
	struct map *from = (struct map *)out, *to = (struct map *)in;
	int counts[RANKS], begin = 0, each = n / size;

	for (int i = 0; i < size; i++) {
		counts[i] = i % 3 ? each : 0;
		begin += i < rank ? counts[i] : 0;
	}
	operands_fill(from, rank, n);
	MPI_Reduce_scatter(from, to, counts, pair, op, MPI_COMM_WORLD);
	wrong += !are_combined(to, size, begin, counts[rank]);
	MPI_Reduce_scatter_block(from, to, each, pair, op, MPI_COMM_WORLD);
	wrong += !are_combined(to, size, rank * each, each);
	MPI_Reduce_scatter_block(MPI_IN_PLACE, from, each, pair, op,
				 MPI_COMM_WORLD);
	wrong += !are_combined(from, size, rank * each, each);
}

static void reductions(int rank, int size, int n, MPI_Op op)
{
	struct map *from = (struct map *)out, *to = (struct map *)in;
	int root = n % size;
	MPI_Datatype pair;

	MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
	MPI_Type_commit(&pair);
	operands_fill(from, rank, n);
	MPI_Allreduce(from, to, n, pair, op, MPI_COMM_WORLD);
	wrong += !are_combined(to, size, 0, n);
	MPI_Reduce(from, to, n, pair, op, root, MPI_COMM_WORLD);
	wrong += rank == root && !are_combined(to, size, 0, n);
	memcpy(to, from, sizeof(*to) * (size_t)n);
	MPI_Reduce(rank == root ? MPI_IN_PLACE : from, to, n, pair, op, root,
		   MPI_COMM_WORLD);
	wrong += rank == root && !are_combined(to, size, 0, n);
	MPI_Allreduce(MPI_IN_PLACE, from, n, pair, op, MPI_COMM_WORLD);
	wrong += !are_combined(from, size, 0, n);
	scatters(rank, size, n, pair, op);
	MPI_Type_free(&pair);
}

static void memory_get(int size)
{
	size_t words = 2 * (size_t)MOST;

	if (words < (size_t)size * 20000)
		words = (size_t)size * 20000;
	out = malloc(sizeof(*out) * words);
	in = malloc(sizeof(*in) * words);
}

static void memory_free(void)
{
	free(out);
	free(in);
}

static void moved(int rank, int size)
{
	memory_get(size);
	for (int n = 514; n < 20000; n = n * 3 + 1)
		moves(rank, size, n);
	memory_free();
}

static void reduced_by(int rank, int size, int commutes)
{
	MPI_Op op;

	memory_get(size);
	MPI_Op_create(compose, commutes, &op);
	for (int n = 259; n < MOST; n = n * 4 + 3)
		reductions(rank, size, n, op);
	reductions(rank, size, MOST, op);
	MPI_Op_free(&op);
	memory_free();
}

static void reduced(int rank, int size)
{
	reduced_by(rank, size, 0);
}

static void sums(int rank, int size)
{
	double *x = malloc(sizeof(*x) * MOST), *sum = malloc(sizeof(*x) * MOST);

	for (int n = 300; n < MOST; n = n * 7 + 1) {
		for (int i = 0; i < n; i++)
			x[i] = rank + i;
		MPI_Allreduce(x, sum, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		for (int i = 0; i < n; i++)
			wrong += sum[i] != size * (size - 1) / 2 + size * i;
	}
	free(x);
	free(sum);
}

/* Reductions whose root comes late each time, of more than half a board, and of
 * many short ones on several communicators. */
static void many(int rank, int size)
{
	MPI_Comm comms[3];
	int lengths[3] = { 600, 9000, MOST };

	memory_get(size);
	for (int i = 0; i < 3; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int round = 0; round < 60; round++) {
		int n = lengths[round % 3], root = round % 7 ? 0 : round % size;

		if (round % 20 == 0)
			MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < n; i++)
			out[i] = (unsigned)(round + rank + i);
		MPI_Reduce(out, in, n, MPI_UNSIGNED, MPI_MAX, root,
			   comms[round / 3 % 3]);
		for (int i = 0; i < n && rank == root; i++)
			wrong += in[i] != (unsigned)(round + size - 1 + i);
	}
	for (int i = 0; i < 3; i++)
		MPI_Comm_free(&comms[i]);
	memory_free();
}

/* The root comes when the last rank has told it that it has gone on. */
static void left(int rank, int size)
{
	int lengths[3] = { 4000, 16000, 600 }, gone = 0;

	memory_get(size);
	for (int i = 0; i < lengths[1]; i++)
		out[i] = (unsigned)(rank + i);
	if (rank == 0)
		MPI_Recv(&gone, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	for (int i = 0; i < 12; i++) {
		int n = lengths[i % 3];

		in[0] = in[n - 1] = 0;
		MPI_Reduce(out, in, n, MPI_UNSIGNED, MPI_MAX, 0,
			   MPI_COMM_WORLD);
		wrong += rank == 0 && (in[0] != (unsigned)size - 1 ||
				       in[n - 1] != (unsigned)(size + n - 2));
	}
	if (rank == size - 1)
		MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
	wrong += rank == 0 && gone != size - 1;
	memory_free();
}

/* Whether the ranks, each in its process, share memory and processors. */
static bool go_on(void)
{
	const char *nodes = getenv("TAP_NODES"),
		   *shm = getenv("VMPI_FABRIC_SHM");

	return nodes && atoi(nodes) == RANKS &&
	       (!shm || strcmp(shm, "off") != 0) &&
	       sysconf(_SC_NPROCESSORS_ONLN) < RANKS;
}

static void check(void (*body)(int rank, int size), const char *what)
{
	wrong = 0;
	if (!ranks_run(RANKS, 1, body))
		skip(1, "%s: not with these ranks", what);
	else
		ok(wrong == 0, "%s", what);
}

int main(void)
{
	plan(5);
	check(moved, "blocks of many sizes");
	check(reduced, "an operation that does not commute");
	check(sums, "sums");
	check(many, "many in a row");
	if (go_on())
		check(left, "who leaves its data to the root goes on");
	else
		skip(1, "who has no board or is not alone waits for the root");
	return done_testing();
}
